"""A walk meets every entry, follows no link, and reads nothing from outside the folder."""

from __future__ import annotations

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


def test_files_come_sorted_by_id(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a.txt", "a/b/c.txt", "A.txt", "é.txt"):
        touch(tmp_path / name)
    assert ids(tmp_path) == ["A.txt", "a.txt", "a/b/c.txt", "a/z.txt", "b.txt", "é.txt"]


def test_what_is_passed_over_is_counted(tmp_path: Path) -> None:
    for name in (
        ".hidden",
        ".git/config",
        "node_modules/a.js",
        "x/__pycache__/a.pyc",
        ".spanwise/c",
        "a.txt",
    ):
        touch(tmp_path / name)
    (tmp_path / "link").symlink_to("a.txt")
    os.mkfifo(tmp_path / "pipe")
    listing = walk(tmp_path)
    assert [file.document_id for file in listing.files] == ["a.txt"]
    assert listing.skipped == {
        "folder .git": 1,
        "folder __pycache__": 1,
        "folder node_modules": 1,
        "hidden": 1,
        "link": 1,
        "pipe": 1,
    }


def raw(folder: Path, name: bytes) -> Path:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
    try:
        return touch(path)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")


def test_a_name_that_is_not_utf8_is_found_readably_and_read(tmp_path: Path) -> None:
    raw(tmp_path, b"\xff/caf\xe9.txt")
    [found] = walk(tmp_path).files
    assert found.document_id == r"\xff/caf\xe9.txt"
    assert read_regular(found.root, found.place) == b"words"


def test_an_index_inside_is_no_part_of_the_folder(tmp_path: Path) -> None:
    touch(tmp_path / "own" / "catalog.sqlite")
    touch(tmp_path / "own" / "segments" / "a.txt")
    touch(tmp_path / "spanwise.toml")
    touch(tmp_path / "a.txt")
    assert (ids(tmp_path), walk(tmp_path).skipped) == (["a.txt"], {"folder of an index": 1})


def test_an_entry_that_goes_during_the_walk_takes_nothing_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path / "a.txt")
    touch(tmp_path / "gone.txt")
    listed = os.scandir

    class Late:
        def __init__(self, handle: int) -> None:
            self.entries = list(listed(handle))
            (tmp_path / "gone.txt").unlink()

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self.entries

        def __exit__(self, *error: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Late)
    assert ids(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    "name", ["new\nline.txt", "..txt", "a b.txt", "%00.txt", "x" * 255, "\u202etxt.a", "CON"]
)
def test_odd_names_are_found_and_read(tmp_path: Path, name: str) -> None:
    touch(tmp_path / "f" / name)
    assert walk(tmp_path).rejected == ()
    assert [read_regular(tmp_path, found) for found in ids(tmp_path)] == (
        [b"words"] if name[0] != "." else []
    )


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
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


def test_a_giant_is_refused_by_its_size(tmp_path: Path) -> None:
    with (tmp_path / "giant.txt").open("wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(DocumentRejected, match="300 MB; the limit is 200 MB"):
        read_regular(tmp_path, "giant.txt")
