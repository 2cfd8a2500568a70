"""Status says what is there, what failed and what to do; verify finds what is damaged."""

import json
import os

import pytest

import spanwise
from spanwise.pipelines.library.status import advice, last_commit


@pytest.fixture
def mixed(folder):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    return folder


def status(run, folder, *options) -> dict:
    code, out, _ = run("status", "--index", folder, "--json", *options)
    assert code == 0
    return json.loads(out)


def test_opening_an_index_is_no_commit(run, folder):
    run("index", folder, "--lexical-only")
    path = folder / ".spanwise"
    os.utime(path / "catalog.sqlite", (1e9, 1e9))
    told = last_commit(path)
    (path / "catalog.sqlite-wal").touch()
    assert last_commit(path) == told


def test_documents_and_refused_files_are_counted(run, mixed):
    run("index", mixed, "--lexical-only")
    record = status(run, mixed)
    assert record["formats"] == {"text/html": 1, "text/markdown": 1, "text/plain": 1}
    assert sum(record["rejected"].values()) == 2
    assert sum(record["skipped"].values()) == 1
    assert record["roots"] == [{"label": "notes", "folder": str(mixed), "there": True}]
    assert record["bytes"] > 1000


def test_every_file_is_listed_with_its_state(run, mixed):
    run("index", mixed, "--lexical-only")
    states = {each["document"]: each["state"] for each in status(run, mixed, "--files")["files"]}
    assert states == {
        "broken.pdf": "rejected",
        "empty.txt": "rejected",
        "mill.md": "indexed",
        "picture.png": "skipped",
        "sub/weir.html": "indexed",
        "tram.txt": "indexed",
    }
    refused = run("status", "--index", mixed, "--rejected")[1].splitlines()
    assert [line.split()[:2] for line in refused] == [
        ["rejected", "broken.pdf"],
        ["rejected", "empty.txt"],
        ["skipped", "picture.png"],
    ]


def test_a_missing_folder_and_an_empty_index_are_told(folder, tmp_path):
    with spanwise.open(folder, tmp_path / "index") as library:
        folder.rename(tmp_path / "away")
        told = advice(library.status())
    assert "is missing" in told[0]
    assert "nothing can be searched" in told[1]


def test_verify_says_how_much_was_checked(run, folder):
    run("index", folder, "--lexical-only")
    code, out, _ = run("verify", "--index", folder)
    assert code == 0
    assert out.startswith("no problems: 3 documents, ")
    assert json.loads(run("verify", "--index", folder, "--json")[1])["problems"] == []


def test_verify_prints_a_line_for_each_problem_and_fails(run, folder):
    run("index", folder, "--lexical-only")
    [segment] = (folder / ".spanwise" / "segments").glob("*/*.bin")
    segment.write_bytes(segment.read_bytes()[:-1] + b"\xff\xfe")
    code, out, _ = run("verify", "--index", folder)
    assert code == 1
    assert str(segment) in out


def test_verify_names_the_files_that_differ_or_are_gone(run, folder):
    run("index", folder, "--lexical-only")
    assert run("verify", "--files", "--index", folder)[0] == 0
    tram = (folder / "tram.txt").stat()
    (folder / "tram.txt").write_text("x" * tram.st_size)
    os.utime(folder / "tram.txt", ns=(tram.st_atime_ns, tram.st_mtime_ns))
    (folder / "mill.md").unlink()
    code, out, _ = run("verify", "--files", "--index", folder)
    assert code == 1
    assert out.splitlines() == [
        "mill.md: file not there now",
        "tram.txt: the file differs from the indexed one",
    ]
    assert run("verify", "--index", folder)[0] == 0


def test_check_finds_the_installed_packages(run, folder):
    run("index", folder, "--lexical-only")
    check = status(run, folder, "--check")["check"]
    assert "rank-bm25" in check["packages"]
    assert not any("rank" in problem for problem in check["problems"])
