"""A walk lists every entry, follows no link, and reads nothing outside the folder."""

import os
from pathlib import Path

import pytest

from spanwise.corpora.folder import read_regular, walk
from spanwise.errors import DocumentRejected


def touch(path: Path, text: str = "words") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def ids(root: Path) -> list[str]:
    return [file.document_id for file in walk(root).files]


def test_files_are_sorted_and_skipped_entries_are_counted(tmp_path: Path) -> None:
    for name in (".hidden", ".git/config", "x/__pycache__/a.pyc", ".spanwise/c", "b.txt", "a/c.txt", "B.txt"):
        touch(tmp_path / name)
    (tmp_path / "link").symlink_to("b.txt")
    touch(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")))
    os.mkfifo(tmp_path / "pipe")
    listing = walk(tmp_path)
    assert [file.document_id for file in listing.files] == ["B.txt", "a/c.txt", "b.txt", r"caf\xe9.txt"]
    assert [read_regular(file.root, file.place) for file in listing.files] == [b"words"] * 4
    assert listing.skipped == dict.fromkeys(
        ("folder .git", "folder __pycache__", "hidden", "link", "pipe"), 1
    )


def test_an_index_inside_the_folder_is_skipped(tmp_path: Path) -> None:
    touch(tmp_path / "own" / "catalog.sqlite")
    touch(tmp_path / "own" / "segments" / "a.txt")
    touch(tmp_path / "spanwise.toml")
    touch(tmp_path / "a.txt")
    assert ids(tmp_path) == ["a.txt"]
    assert walk(tmp_path).skipped == {"folder of an index": 1}


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.txt")
    with pytest.raises(DocumentRejected, match="not a regular file"):
        read_regular(tmp_path, "p.txt")


@pytest.mark.parametrize("target", ["/etc/hostname", "a.txt", "nothing"])
def test_a_file_replaced_by_a_link_is_refused(tmp_path: Path, target: str) -> None:
    touch(tmp_path / "a.txt")
    (tmp_path / "b.txt").symlink_to(target)
    with pytest.raises(DocumentRejected, match="cannot be opened"):
        read_regular(tmp_path, "b.txt")


def test_a_folder_replaced_by_a_link_is_refused(tmp_path: Path) -> None:
    touch(tmp_path / "outside" / "a.txt")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(DocumentRejected, match="cannot be opened"):
        read_regular(tmp_path / "root", "sub/a.txt")


@pytest.mark.parametrize("document_id", ["../a.txt", "/etc/hostname", "", "a/../../b"])
def test_an_id_that_leaves_the_folder_is_a_wrong_argument(tmp_path: Path, document_id: str) -> None:
    with pytest.raises(ValueError, match="expected a path relative"):
        read_regular(tmp_path, document_id)


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    with (tmp_path / "giant.txt").open("wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(DocumentRejected, match="300 MB; the limit is 200 MB"):
        read_regular(tmp_path, "giant.txt")
