"""Several folders in one index: labels, adding, dropping, and what is missing loses nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import spanwise
from spanwise.errors import FolderNotFound
from spanwise.pipelines.folders import Root, read_roots, roots_setting, with_folders
from spanwise.pipelines.library import Library
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


def test_ids_of_two_folders_start_with_their_labels(two, tmp_path):
    with spanwise.open(two, tmp_path / "both") as library:
        assert sync(library) == ["notes/a.txt", "papers/a.txt"]
        [hit, _] = library.search("papers mill", retriever="bm25")
        assert hit.passage.document_id == "papers/a.txt"


def test_a_second_folder_renames_the_documents_of_the_first(two, tmp_path):
    with spanwise.open(two[0], tmp_path / "both") as library:
        assert sync(library) == ["a.txt"]
    with spanwise.open(two[1], tmp_path / "both") as library:
        assert sync(library) == ["notes/a.txt", "papers/a.txt"]


def test_renamed_documents_keep_their_vectors(two, tmp_path, encoder_folder):
    with spanwise.open(two[0], tmp_path / "both", encoder_folder) as library:
        library.sync()
        library.add([two[1]])
        report = library.sync()
        assert (report.added, report.deleted) == (("notes/a.txt", "papers/a.txt"), ("a.txt",))
        assert report.reused_vectors == 1
        assert library.missing_vectors() == 0


def test_a_dropped_folder_takes_its_documents_out_even_when_it_is_gone(two, tmp_path):
    with spanwise.open(two, tmp_path / "both") as library:
        library.sync(vectors=False)
        two[1].rename(tmp_path / "elsewhere")
        library.drop([two[1]])
        assert sync(library) == ["a.txt"]
        assert library.roots == (Root("notes", two[0]),)


def test_a_missing_folder_is_named_and_nothing_is_deleted(two, tmp_path):
    with spanwise.open(two, tmp_path / "both") as library:
        library.sync(vectors=False)
        two[1].rename(tmp_path / "unplugged")
        with pytest.raises(FolderNotFound, match="papers"):
            library.sync(vectors=False)
        assert documents(library) == ["notes/a.txt", "papers/a.txt"]


def test_a_folder_is_added_once(two, tmp_path):
    with spanwise.open(two, tmp_path / "both") as library:
        generation = library.snapshot.generation
        library.add([two[0]])
        assert library.snapshot.generation == generation
        assert len(library.roots) == 2


@pytest.mark.parametrize("other", [".", "a", ".."])
def test_folders_that_overlap_are_refused(tmp_path, other):
    (tmp_path / "b" / "a").mkdir(parents=True)
    folder, inner = tmp_path / "b", (tmp_path / "b" / other).resolve()
    if inner == folder:
        assert len(with_folders((), [folder, inner])) == 1
    else:
        with pytest.raises(ValueError, match="is inside"):
            with_folders((), [folder, inner])


def test_several_folders_need_an_index(two):
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


def test_an_index_of_before_is_read_and_becomes_one_of_several(two, tmp_path):
    with spanwise.open(two[0], tmp_path / "old") as library:
        library.sync(vectors=False)
        old = {"root": str(two[0])}
        assert read_roots(old, library.store.path) == library.roots
        assert read_roots({"root": "/nowhere"}, two[0] / ".spanwise") == library.roots


def test_a_folder_that_moved_with_its_index_is_found_among_several(two, tmp_path):
    with spanwise.open(two, two[0] / ".spanwise") as library:
        library.sync(vectors=False)
    moved = two[0].rename(tmp_path / "moved")
    with open_index(moved) as library:
        assert [root.folder for root in library.roots] == [moved, two[1]]
        assert library.sync(vectors=False).unchanged == 2


def test_roots_are_kept_as_json(two, tmp_path):
    stored = roots_setting(with_folders((), two), two[0] / ".spanwise")
    assert json.loads(stored["roots"]) == [["notes", ".."], ["papers", str(two[1])]]
