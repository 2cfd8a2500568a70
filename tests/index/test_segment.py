from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from spanwise.errors import FormatTooNew, IndexCorrupt
from spanwise.index.segment import open_segment
from spanwise.index.segment_writer import write_segment

COLUMNS = {
    "ids": np.array([3, 1, 2], np.int64),
    "matrix": np.arange(6, dtype=np.float32).reshape(3, 2),
    "nothing": np.empty((0, 4), np.float32),
    "small": np.array([7], np.uint16),
}


@pytest.fixture
def segment(tmp_path):
    return tmp_path / write_segment(tmp_path, "kind", "model", COLUMNS)


def test_columns_come_back(segment) -> None:
    opened = open_segment(segment)
    opened.check_file()
    assert (opened.kind, opened.model) == ("kind", "model")
    for name, column in COLUMNS.items():
        assert np.array_equal(opened.columns[name], column)
        assert opened.columns[name].dtype == column.dtype


def test_columns_cannot_be_written_to(segment) -> None:
    with pytest.raises(ValueError, match="read-only"):
        open_segment(segment).columns["ids"][0] = 1


def test_equal_columns_have_one_name(segment, tmp_path) -> None:
    (tmp_path / "other").mkdir()
    assert write_segment(tmp_path / "other", "kind", "model", COLUMNS) == segment.name


def test_a_segment_without_bytes_can_be_opened(tmp_path) -> None:
    name = write_segment(tmp_path, "kind", "", {"nothing": np.empty(0, np.int64)})
    assert len(open_segment(tmp_path / name).columns["nothing"]) == 0


def test_mapped_columns_outlive_their_file(segment) -> None:
    opened = open_segment(segment)
    shutil.rmtree(segment)
    assert opened.columns["ids"].tolist() == [3, 1, 2]
    with pytest.raises(FileNotFoundError):
        open_segment(segment)


def test_a_flipped_bit_is_found_wherever_it_is(segment) -> None:
    for file in segment.iterdir():
        whole = file.read_bytes()
        for place in range(0, len(whole), 13):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
            with pytest.raises(IndexCorrupt, match=file.name):
                open_segment(segment).check_file()
        file.write_bytes(whole)


@pytest.mark.parametrize("name", ["manifest.json", "columns.bin"])
def test_truncated_and_missing_files_are_found_on_opening(segment, name) -> None:
    file = segment / name
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(IndexCorrupt, match=name):
        open_segment(segment)
    file.unlink()
    with pytest.raises(IndexCorrupt, match=f"{name} is damaged .the file is missing"):
        open_segment(segment)


def test_a_damaged_column_is_named(segment) -> None:
    file = segment / "columns.bin"
    file.write_bytes(b"\xff" + file.read_bytes()[1:])
    open_segment(segment).check("matrix")
    with pytest.raises(IndexCorrupt, match="column ids does not match"):
        open_segment(segment).check("ids")


def test_a_newer_format_is_refused(segment, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("spanwise.index.segment_writer.FORMAT", 3)
    name = write_segment(tmp_path, "kind", "", COLUMNS)
    monkeypatch.undo()
    assert json.loads((tmp_path / name / "manifest.json").read_bytes())["format"] == 3
    with pytest.raises(FormatTooNew, match="format 3, this program reads up to 2"):
        open_segment(tmp_path / name)
