from __future__ import annotations

import hashlib
import json
import random
import shutil
from pathlib import Path

import pytest
from golden.make import HERE

from spanwise.errors import FormatTooNew, IndexCorrupt
from spanwise.index.manifest import FORMAT, parse_manifest
from spanwise.index.postings import PostingsSegment
from spanwise.index.segment import open_segment

WHOLE = [path.read_bytes() for path in sorted(HERE.glob("v*/segments/*/manifest.json"))]
HOSTILE = [None, -1, 2**40, 2**70, 1.5, True, "x", "<i8", "|O", [], [-1], [2**40, 2**40], [[]], {}]


def parse(raw):
    text = json.dumps(raw).encode()
    return parse_manifest(text, Path("segments") / "x" / "manifest.json")


@pytest.mark.parametrize("text", WHOLE)
def test_a_manifest_comes_back_as_it_was_written(text) -> None:
    assert parse_manifest(text, Path("manifest.json")).to_json() == text


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", ["format", "kind", "model", "bytes", "sha256", "columns"])
def test_a_value_that_makes_no_sense_is_refused(name, value) -> None:
    if isinstance(value, str) and name in ("kind", "model"):
        return  # a kind that nobody reads, a model that nobody has
    if name == "bytes" and value in (2**40, 2**70):
        return  # refused where it is compared with the size of the file
    for text in WHOLE:
        with pytest.raises((IndexCorrupt, FormatTooNew)):
            parse(json.loads(text) | {name: value})


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["dtype", "shape", "offset", "sha256"])
def test_a_column_that_makes_no_sense_is_refused(field, value) -> None:
    for text in WHOLE:
        for name, column in json.loads(text)["columns"].items():
            if column[field] != value:
                raw = json.loads(text)
                raw["columns"][name][field] = value
                with pytest.raises(IndexCorrupt, match=r"manifest\.json is damaged"):
                    parse(raw)


@pytest.mark.parametrize("text", WHOLE)
def test_a_column_that_its_readers_need_is_missed(text) -> None:
    for name in json.loads(text)["columns"]:
        raw = json.loads(text)
        del raw["columns"][name]
        with pytest.raises(IndexCorrupt, match="makes no sense"):
            parse(raw)


@pytest.mark.parametrize(
    "text", [b"", b"[", b"[]", b"1", b"null", b"\xff", b"[" * 100_000, b'{"format": {}}']
)
def test_what_is_no_manifest_is_refused(text) -> None:
    with pytest.raises(IndexCorrupt, match="makes no sense"):
        parse_manifest(text, Path("manifest.json"))


def test_columns_may_not_overlap() -> None:
    raw = json.loads(WHOLE[0])
    first, second, *_ = sorted(raw["columns"].values(), key=lambda column: column["offset"])
    second["offset"] = first["offset"]
    with pytest.raises(IndexCorrupt, match="another one ends"):
        parse(raw)


def test_offsets_that_a_stranger_made_up_are_refused(tmp_path) -> None:
    """All digests are right: only the numbers in the columns lead nowhere."""
    source = next(
        path.parent for path in HERE.glob("v1/segments/*/manifest.json") if b"starts" in path.read_bytes()
    )
    draw = random.Random(5)
    for name in ("starts", "term_ends"):
        raw = json.loads((source / "manifest.json").read_bytes())
        data = bytearray((source / "columns.bin").read_bytes())
        entry = raw["columns"][name]
        data[entry["offset"] + 8 * draw.randrange(1, entry["shape"][0] - 1) + 5] = 1
        end = entry["offset"] + 8 * entry["shape"][0]
        entry["sha256"] = hashlib.sha256(data[entry["offset"] : end]).hexdigest()
        raw["sha256"] = hashlib.sha256(data).hexdigest()
        text = json.dumps(raw).encode()
        made = tmp_path / hashlib.sha256(text).hexdigest()
        shutil.copytree(source, made)
        (made / "manifest.json").write_bytes(text)
        (made / "columns.bin").write_bytes(data)
        open_segment(made).check_file()
        with pytest.raises(IndexCorrupt, match=f"{name} are not places"):
            PostingsSegment.open(open_segment(made))


def test_the_format_of_today_is_read() -> None:
    raw = json.loads(WHOLE[0])
    raw["format"] = FORMAT + 1
    with pytest.raises(FormatTooNew, match=f"format {FORMAT + 1}"):
        parse(raw)
