"""The age of an index, damage that a quick look finds, and room for the next sync."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

import spanwise
from spanwise.errors import IndexCorrupt
from spanwise.pipelines.doctor import State, health
from spanwise.pipelines.doctor.checkup import checkup


@pytest.fixture
def index(folder):
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
    return folder / ".spanwise"


def test_an_index_that_was_just_made_is_as_the_folder_is(index):
    finding = health.check_age(index)
    assert (finding.state, finding.seen.startswith("as the folders are now; last commit ")) == (
        State.OK,
        True,
    )


def test_new_changed_and_gone_files_are_counted_with_the_command_that_mends_it(folder, index):
    (folder / "new.txt").write_text("new")
    (folder / "mill.md").write_text("The mill burned.")
    (folder / "tram.txt").unlink()
    finding = health.check_age(index)
    assert finding.state is State.WARN
    assert "1 new, 1 changed, 1 gone" in finding.seen
    assert "spanwise index" in finding.advice


def test_a_refused_file_is_no_news(folder, index):
    (folder / "broken.pdf").write_bytes(b"no PDF")
    assert health.check_age(index).state is State.WARN
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
    assert health.check_age(index).state is State.OK


def test_the_age_is_not_told_while_a_folder_is_away(folder, tmp_path):
    with spanwise.open(folder, tmp_path / "index") as library:
        library.sync(vectors=False)
    folder.rename(tmp_path / "away")
    assert health.check_age(tmp_path / "index") is None


def test_damage_to_the_words_is_found_by_a_quick_look(index):
    assert health.check_damage(index).state is State.OK
    path = max((index / "segments").glob("*/*"), key=lambda one: one.stat().st_size)
    data = bytearray(path.read_bytes())
    data[: len(data) // 2] = os.urandom(len(data) // 2)
    path.chmod(0o644)
    path.write_bytes(data)
    with pytest.raises(IndexCorrupt, match="segments"):
        health.check_damage(index)
    found = {finding.subject: finding for finding in checkup(index, index)}
    assert found["damage"].state is State.FAIL


def test_too_little_room_for_a_second_copy_is_worth_a_look(index, monkeypatch):
    assert health.check_room(index).state is State.OK
    monkeypatch.setattr(health.shutil, "disk_usage", lambda path: SimpleNamespace(free=10))
    finding = health.check_room(index)
    assert (finding.state, "free some space" in finding.advice) == (State.WARN, True)
