"""An index lies in its folder, or in the cache when that is read-only, and is found again from inside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import spanwise
from spanwise.errors import IndexNotFound
from spanwise.pipelines import folders
from spanwise.pipelines.folders import cached_index_of, index_folder_of, nearest_index, resolve_index


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPANWISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def read_only(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folders, "is_writable", lambda path: not path.is_relative_to(folder))
    return folder


def test_a_folder_holds_its_own_index(folder, cache):
    assert index_folder_of(folder) == folder / ".spanwise"


def test_a_read_only_folder_has_its_index_in_the_cache(read_only, cache):
    with spanwise.open(read_only) as library:
        library.sync(vectors=False)
        assert library.store.path.parent == cache
        assert [root.folder for root in library.roots] == [read_only]
    assert not (read_only / ".spanwise").exists()
    assert nearest_index(read_only / "sub") == resolve_index(read_only) == cached_index_of(read_only)


def test_an_index_that_became_read_only_is_still_searched(folder, cache, monkeypatch):
    spanwise.open(folder).close()
    monkeypatch.setattr(folders, "is_writable", lambda path: False)
    assert nearest_index(folder) == folder / ".spanwise"
    assert index_folder_of(folder) == cached_index_of(folder)


def test_folders_of_one_name_have_two_places(tmp_path, cache):
    places = {cached_index_of(tmp_path / name / "notes").name for name in "ab"}
    assert len(places) == 2
    assert all(name.startswith("notes-") for name in places)


def test_without_any_index_the_command_that_makes_one_is_told(folder, cache):
    with pytest.raises(IndexNotFound, match="spanwise index"):
        nearest_index(folder)


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that another user can reach, which `tmp_path` is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


AS_NOBODY = """
import os, sys
import spanwise
from spanwise.pipelines import folders
spanwise.open(sys.argv[2]).close()  # loads all that is needed from where that user may not read
if os.geteuid() == 0:
    os.setuid(65534)
os.chdir(sys.argv[1])
with spanwise.open(".") as opened:
    print(opened.store.path)
    print(folders.nearest_index(opened.roots[0].folder / "sub"))
"""


def test_a_folder_that_may_not_be_written_is_noticed(open_to_all, folder):
    notes = open_to_all / "notes"
    (notes / "sub").mkdir(parents=True)
    notes.chmod(0o555)
    environment = {**os.environ, "SPANWISE_CACHE": str(open_to_all / "cache")}
    command = [sys.executable, "-c", AS_NOBODY, str(notes), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    notes.chmod(0o755)
    assert done.returncode == 0, done.stderr
    made, found = done.stdout.splitlines()
    assert made == found
    assert Path(made).parent == open_to_all / "cache"
