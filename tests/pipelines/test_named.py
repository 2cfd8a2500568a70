"""Which document is meant: id, path below a root, end of an id, a file anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwise.errors import DocumentNotFound
from spanwise.pipelines.named import Named, named
from spanwise.pipelines.folders import resolve_document_id
from spanwise.pipelines.folders import Root

IDS = {"town/mill.md": 1, "town/tram.txt": 2, "harbour/tram.txt": 3}


@pytest.fixture
def root(tmp_path: Path, monkeypatch) -> Root:
    folder = tmp_path / "notes"
    for name in (*IDS, "new.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("words")
    (tmp_path / "other.md").write_text("words")
    monkeypatch.chdir(tmp_path)
    return Root("notes", folder.resolve())


@pytest.mark.parametrize(
    "given", ["town/mill.md", "notes/town/mill.md", "./notes/town/../town/mill.md", "mill.md"]
)
def test_one_document_by_its_names(root, given):
    assert named(given, IDS, [root]) == Named("town/mill.md", root, "town/mill.md")


def test_an_absolute_path_and_one_that_is_gone(root):
    (root.folder / "town/mill.md").unlink()
    assert named(str(root.folder / "town/mill.md"), IDS, [root]).id == "town/mill.md"


def test_a_file_that_is_not_indexed(root):
    assert (
        named("new.md", IDS, [root]) == named("notes/new.md", IDS, [root]) == Named("new.md", root, "new.md")
    )


def test_a_file_outside_is_its_path(root, tmp_path):
    assert named("other.md", IDS, [root]) == Named(str(tmp_path / "other.md"))


def test_with_several_roots_ids_begin_with_labels(root, tmp_path):
    second = Root("papers", tmp_path / "papers")
    ids = {f"notes/{name}": None for name in IDS}
    expected = Named("notes/town/mill.md", root, "town/mill.md")
    for given in ("notes/town/mill.md", "mill.md", "town/mill.md"):
        assert named(given, ids, [root, second]) == expected
    assert named("notes/new.md", ids, [root, second]) == Named("notes/new.md", root, "new.md")


def test_an_end_of_several_is_ambiguous(root):
    with pytest.raises(ValueError, match=r"end of 2 documents: harbour/tram\.txt, town/tram\.txt"):
        named("tram.txt", IDS, [root])


def test_an_unknown_name_lists_the_nearest(root):
    with pytest.raises(DocumentNotFound, match=r"'mil\.md'; the nearest are town/mill\.md"):
        named("mil.md", IDS, [root])
    with pytest.raises(DocumentNotFound, match=r"'zzzzzzzz'$"):
        named("zzzzzzzz", IDS, [root])


def test_a_folder_is_no_document(root):
    with pytest.raises(ValueError, match="is a folder"):
        named("notes/town", IDS, [root])


@pytest.mark.parametrize("given", ["", ".", "..", "/", "a\0b", "\ud800", "x" * 5000, "../" * 50 + "etc"])
def test_odd_names_are_named_errors(root, given):
    with pytest.raises((DocumentNotFound, ValueError)):
        named(given, IDS, [root])


def test_the_id_of_a_request_is_an_id_or_the_end_of_one_and_never_a_path(root):
    assert (resolve_document_id("town/mill.md", IDS), resolve_document_id("mill.md", IDS)) == ("town/mill.md", "town/mill.md")
    for given in ("new.md", "notes/town/mill.md", str(root.folder / "town/mill.md")):
        with pytest.raises(DocumentNotFound, match="no document is called"):
            resolve_document_id(given, IDS)
