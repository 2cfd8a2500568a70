"""Folders of an index, the place of the index, and documents by name."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import spanwise
from spanwise.errors import DocumentNotFound, FolderNotFound, IndexNotFound
from spanwise.pipelines import folders
from spanwise.pipelines.folders import (
    Root,
    cached_index_of,
    index_folder_of,
    nearest_index,
    read_roots,
    resolve_document_id,
    resolve_index,
    roots_setting,
    with_folders,
)
from spanwise.pipelines.library.library import Library
from spanwise.pipelines.open import open_index


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    folders = tmp_path / "notes", tmp_path / "papers"
    for folder in folders:
        folder.mkdir()
        (folder / "a.txt").write_text(f"The {folder.name} tell of a mill.\n")
    return folders


def documents(library: Library) -> list[str]:
    return sorted(library.snapshot.files())


def sync(library: Library) -> list[str]:
    library.sync(vectors=False)
    return documents(library)


def test_renamed_documents_keep_their_vectors(two, tmp_path, encoder_folder):
    with spanwise.open(two[0], tmp_path / "both", encoder_folder) as library:
        library.sync()
    with spanwise.open(two, tmp_path / "both") as library:
        report = library.sync()
        assert [root.label for root in library.roots] == ["notes", "papers"]
        assert report.added == ("notes/a.txt", "papers/a.txt")
        assert report.deleted == ("a.txt",)
        assert report.reused_vectors == 1
        assert library.missing_vectors() == 0


def test_a_dropped_folder_takes_its_documents_out_even_when_it_is_gone(two, tmp_path):
    with spanwise.open(two, tmp_path / "both") as library:
        library.sync(vectors=False)
        two[1].rename(tmp_path / "elsewhere")
        library.drop([two[1]])
        assert sync(library) == ["a.txt"]
        assert library.roots == (Root("notes", two[0]),)


def test_a_missing_folder_is_named_and_keeps_its_documents(two, tmp_path):
    with spanwise.open(two, tmp_path / "both") as library:
        library.sync(vectors=False)
        two[1].rename(tmp_path / "unplugged")
        report = library.sync(vectors=False)
        assert [file.document_id for file in report.rejected] == ["papers"]
        assert (report.kept, report.unchanged) == (1, 1)
        assert documents(library) == ["notes/a.txt", "papers/a.txt"]


def test_a_folder_added_while_the_first_is_away_deletes_nothing(two, tmp_path):
    with spanwise.open(two[0], tmp_path / "both") as library:
        library.sync(vectors=False)
    away = two[0].rename(tmp_path / "unplugged")
    two[0].mkdir()
    with spanwise.open(two, tmp_path / "both") as library:
        two[0].rmdir()
        assert sync(library) == ["a.txt", "papers/a.txt"]
        away.rename(two[0])
        assert sync(library) == ["notes/a.txt", "papers/a.txt"]


def test_without_any_folder_nothing_is_synced(two, tmp_path):
    with spanwise.open(two, tmp_path / "both") as library:
        library.sync(vectors=False)
        for folder in two:
            folder.rename(tmp_path / f"{folder.name}-unplugged")
        with pytest.raises(FolderNotFound, match="papers"):
            library.sync(vectors=False)


def test_folders_that_overlap_or_lack_an_index_are_refused(two, folder):
    with pytest.raises(ValueError, match="is inside"):
        with_folders((), [folder, folder / "sub"])
    with pytest.raises(ValueError, match="--index"):
        spanwise.open(two)


def test_the_last_folder_cannot_be_dropped(two):
    with spanwise.open(two[0]) as library:
        with pytest.raises(ValueError, match="delete its directory"):
            library.drop([two[0]])
        with pytest.raises(ValueError, match="papers is not indexed here"):
            library.drop([two[1]])


def test_labels_differ_in_more_than_case(tmp_path):
    folders = [tmp_path / name for name in ("x/Notes", "y/notes", "z/notes", "z/notes-2")]
    labels = [root.label for root in with_folders((), folders)]
    assert labels == ["Notes", "notes-2", "notes-3", "notes-2-2"]


def test_a_path_that_is_not_utf8_is_kept(tmp_path):
    roots = (Root(r"caf\xe9", Path(os.fsdecode(b"/data/caf\xe9"))), Root("b", tmp_path))
    assert read_roots(roots_setting(roots, tmp_path / "index"), tmp_path / "index") == roots


def test_a_folder_that_moved_with_its_index_is_found_among_several(two, tmp_path):
    with spanwise.open(two, two[0] / ".spanwise") as library:
        library.sync(vectors=False)
    moved = two[0].rename(tmp_path / "moved")
    with open_index(moved) as library:
        assert [root.folder for root in library.roots] == [moved, two[1]]
        assert library.sync(vectors=False).unchanged == 2


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPANWISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def read_only(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folders, "is_writable", lambda path: not path.is_relative_to(folder))
    return folder


def test_a_read_only_folder_has_its_index_in_the_cache(read_only, cache):
    with spanwise.open(read_only) as library:
        library.sync(vectors=False)
        assert library.store.path.parent == cache
        assert [root.folder for root in library.roots] == [read_only]
    assert not (read_only / ".spanwise").exists()
    assert nearest_index(read_only / "sub") == resolve_index(read_only) == cached_index_of(read_only)


def test_an_index_that_became_read_only_is_still_searched(folder, cache, monkeypatch):
    with pytest.raises(IndexNotFound, match="spanwise index"):
        nearest_index(folder)
    spanwise.open(folder).close()
    monkeypatch.setattr(folders, "is_writable", lambda path: False)
    assert nearest_index(folder) == folder / ".spanwise"
    assert index_folder_of(folder) == cached_index_of(folder)


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
with spanwise.open(sys.argv[2]) as opened:  # loads all that is needed from where that user may not read
    opened.sync(vectors=False)
    opened.search("mill", retriever="bm25")
    opened.status()
if os.geteuid() == 0:
    os.setuid(65534)
os.chdir(sys.argv[1])
with spanwise.open(".") as opened:
    print(opened.store.path)
    print(folders.nearest_index(opened.roots[0].folder / "sub"))
with spanwise.open_index(sys.argv[3]) as opened:
    print([len(opened.search("mill", retriever="bm25")) for _ in range(2)])
    print(opened.status()["cache"]["fault"])
"""


def test_a_folder_or_index_that_may_not_be_written_is_noticed(open_to_all, folder):
    notes = open_to_all / "notes"
    index = open_to_all / "index"
    (notes / "sub").mkdir(parents=True)
    (notes / "mill.txt").write_text("The mill.")
    with spanwise.open(notes, index) as library:
        library.sync(vectors=False)
    for each in (notes, index):
        each.chmod(0o555)
    environment = {**os.environ, "SPANWISE_CACHE": str(open_to_all / "cache")}
    command = [sys.executable, "-c", AS_NOBODY, str(notes), str(folder), str(index)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for each in (notes, index):
        each.chmod(0o755)
    assert done.returncode == 0, done.stderr
    made, nearest, hits, fault = done.stdout.splitlines()
    assert made == nearest
    assert Path(made).parent == open_to_all / "cache"
    assert hits == "[1, 1]"
    assert "cannot be written" in fault


IDS = {"town/mill.md", "town/tram.txt", "harbour/tram.txt"}


@pytest.mark.parametrize(
    "name", ["town/mill.md", "notes/town/mill.md", "./notes/town/../town/mill.md", "mill.md"]
)
def test_a_document_is_found_by_its_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    root = Root("notes", (tmp_path / "notes").resolve())
    assert resolve_document_id(name, IDS, [root]) == "town/mill.md"


def test_an_ambiguous_or_unknown_name_lists_documents():
    with pytest.raises(ValueError, match="the end of 2 documents: harbour"):
        resolve_document_id("tram.txt", IDS)
    with pytest.raises(DocumentNotFound, match=r"the nearest are town/mill\.md"):
        resolve_document_id("mil.md", IDS)
