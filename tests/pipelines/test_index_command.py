"""`spanwise index`: folders taken in and out, and clear words when there is nothing to read."""

from __future__ import annotations

import json

import pytest

from spanwise.pipelines import folders


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "p.txt").write_text("A paper on weirs.\n")
    return tmp_path / "papers"


def index(run, *arguments) -> dict:
    code, out, err = run("index", *arguments, "--lexical-only", "--json")
    assert code == 0, err
    return json.loads(out)


def test_folders_come_and_go(run, folder, papers):
    assert index(run, folder, papers, "--index", "both")["added"][-1] == "papers/p.txt"
    assert index(run, "--index", "both")["unchanged"] == 4
    (papers / "q.txt").write_text("Another.\n")
    assert index(run, "--index", "both")["added"] == ["papers/q.txt"]
    index(run, "--index", "both", "--drop", papers)
    found = json.loads(run("search", "weir", "--index", "both", "--retriever", "bm25", "--json")[1])
    assert [hit["document"] for hit in found["hits"]] == ["sub/weir.html"]


def test_a_folder_named_later_is_added(run, folder, papers):
    index(run, folder, "--index", "both")
    index(run, papers, "--index", "both")
    roots = json.loads(run("status", "--index", "both", "--json")[1])["roots"]
    assert [root["label"] for root in roots] == ["notes", "papers"]


def test_an_index_inside_the_folder_is_no_part_of_it(run, folder):
    inside = ("--index", folder / "index")
    index(run, folder, *inside)
    assert index(run, folder, *inside)["skipped"] == {"folder of an index": 1}


def test_what_becomes_ignored_leaves_the_index(run, folder):
    index(run, folder)
    (folder / ".spanwiseignore").write_text("sub/\n")
    report = index(run, folder)
    assert (report["deleted"], report["skipped"]) == (["sub/weir.html"], {"ignored by .spanwiseignore": 1})


def test_without_a_folder_the_nearest_index_is_brought_up_to_date(run, folder, monkeypatch):
    index(run, folder)
    monkeypatch.chdir(folder / "sub")
    assert index(run)["unchanged"] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("notes", "papers"), 2, "--index"),
        (("notes", "notes/sub", "--index", "both"), 2, "lies inside"),
        (("notes", "nowhere", "--index", "both"), 1, "nowhere"),
        (("notes/tram.txt",), 1, "is a file"),
        (("--index", "nowhere"), 1, "nowhere is not an index"),
        (("--drop", "papers", "--index", "notes"), 2, "papers is not indexed here"),
        (("bad",), 1, "broken.pdf"),
    ],
)
def test_errors_are_one_line(run, folder, papers, tmp_path, arguments, code, says):
    index(run, folder)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    got, out, err = run("index", *arguments, "--lexical-only")
    assert (got, out, err.count("\n")) == (code, "", 1)
    assert says in err


def test_a_folder_that_cannot_be_written_is_told(run, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SPANWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(folders, "is_writable", lambda path: False)
    assert f"its index is in {tmp_path / 'cache'}" in run("index", folder, "--lexical-only")[2]
    monkeypatch.chdir(folder / "sub")
    assert run("search", "weir", "--retriever", "bm25")[0] == 0


def test_names_are_shown_without_control_characters(run, folder):
    (folder / "red\x1b[31m\n.txt").write_text("A zebra.\n")
    index(run, folder)
    out = run("search", "zebra", "--index", folder, "--retriever", "bm25")[1]
    assert "red␛[31m" in out
    assert "\x1b" not in out
