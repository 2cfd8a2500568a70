import hashlib
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from spanwise.errors import FormatTooNew, IndexCorrupt
from spanwise.index.postings import PostingsSegment
from spanwise.index.segment import open_segment, parse_manifest, write_segment

COLUMNS = {
    "ids": np.array([3, 1, 2], np.int64),
    "matrix": np.arange(6, dtype=np.float32).reshape(3, 2),
    "nothing": np.empty((0, 4), np.float32),
    "small": np.array([7], np.uint16),
}


@pytest.fixture
def segment(tmp_path):
    return tmp_path / write_segment(tmp_path, "kind", "model", COLUMNS)


def test_columns_are_read_as_they_were_written(segment) -> None:
    opened = open_segment(segment)
    opened.check_file()
    assert opened.kind == "kind"
    assert opened.model == "model"
    for name, column in COLUMNS.items():
        assert np.array_equal(opened.columns[name], column)
        assert opened.columns[name].dtype == column.dtype


@pytest.mark.parametrize("name", ["manifest.json", "columns.bin"])
def test_truncated_and_missing_files_are_found_on_opening(segment, name) -> None:
    file = segment / name
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(IndexCorrupt, match=name):
        open_segment(segment)
    file.unlink()
    with pytest.raises(IndexCorrupt, match=f"{name} is damaged .the file is missing"):
        open_segment(segment)


def test_a_newer_format_is_refused(segment, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("spanwise.index.segment.FORMAT", 6)
    name = write_segment(tmp_path, "kind", "", COLUMNS)
    monkeypatch.undo()
    assert json.loads((tmp_path / name / "manifest.json").read_bytes())["format"] == 6
    with pytest.raises(FormatTooNew, match="format 6, this program reads format 5"):
        open_segment(tmp_path / name)


SEGMENTS = sorted((Path(__file__).parents[1] / "golden" / "v4" / "segments").glob("*/manifest.json"))


def manifests() -> list[bytes]:
    return [path.read_bytes() for path in SEGMENTS]


HOSTILE = [None, -1, 2**40, 2**70, 1.5, True, "x", "<i8", "|O", [], [-1], [2**40, 2**40], [[]], {}]


def parse(raw):
    text = json.dumps(raw).encode()
    return parse_manifest(text, Path("segments") / "x" / "manifest.json")


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", ["format", "kind", "model", "bytes", "sha256", "columns"])
def test_an_impossible_value_is_refused(name, value) -> None:
    if isinstance(value, str) and name in ("kind", "model"):
        return  # a kind that nobody reads, a model that nobody has
    if name == "bytes" and value in (2**40, 2**70):
        return  # refused where it is compared with the size of the file
    for text in manifests():
        with pytest.raises((IndexCorrupt, FormatTooNew)):
            parse(json.loads(text) | {name: value})


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["dtype", "shape", "offset", "sha256"])
def test_an_impossible_column_is_refused(field, value) -> None:
    for text in manifests():
        for name, column in json.loads(text)["columns"].items():
            if column[field] != value:
                raw = json.loads(text)
                raw["columns"][name][field] = value
                with pytest.raises(IndexCorrupt, match=r"manifest\.json is damaged"):
                    parse(raw)


@pytest.mark.parametrize(
    "text", [b"", b"[", b"[]", b"1", b"null", b"\xff", b"[" * 100_000, b'{"format": {}}']
)
def test_a_malformed_manifest_is_refused(text) -> None:
    with pytest.raises(IndexCorrupt, match="invalid manifest"):
        parse_manifest(text, Path("manifest.json"))


def test_forged_offsets_are_refused(tmp_path) -> None:
    """All digests are right: only the numbers in the columns lead nowhere."""
    source = next(path.parent for path in SEGMENTS if b"starts" in path.read_bytes())
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
