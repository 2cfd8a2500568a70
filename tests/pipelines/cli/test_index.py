"""`spanwise index`, `search` and `status`: JSON, folders, token vectors, one line per error."""

import json

import pytest

from spanwise.pipelines import folders
from spanwise.pipelines.cli import show

PLACE = ["document", "passage", "start", "end", "page", "line", "label", "heading", "text"]


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "p.txt").write_text("A paper on weirs.\n")
    return tmp_path / "papers"


def index(run, *arguments) -> dict:
    code, out, err = run("index", *arguments, "--lexical-only", "--json")
    assert code == 0, err
    return json.loads(out)


def test_the_report_and_the_hits_have_their_keys(run, folder):
    report = index(run, folder)
    assert {"added", "updated", "deleted", "unchanged", "rejected", "passages", "seconds"} <= set(report)
    code, out, _ = run(
        "search", "when was the weir raised?", "--index", folder, "--retriever", "bm25", "--json"
    )
    record = json.loads(out)
    assert code == 0
    assert list(record) == ["question", "understood", "retriever", "hits", "searched_for", "is_unknown"]
    assert list(record["hits"][0]) == ["rank", "score", "scores", *PLACE, "display", "duplicates"]
    assert record["hits"][0]["document"] == "sub/weir.html"


def test_folders_are_added_and_removed(run, folder, papers):
    assert index(run, folder, papers, "--index", "both")["added"][-1] == "papers/p.txt"
    assert index(run, "--index", "both")["unchanged"] == 4
    roots = json.loads(run("status", "--index", "both", "--json")[1])["roots"]
    assert [root["label"] for root in roots] == ["notes", "papers"]
    index(run, "--index", "both", "--drop", papers)
    record = json.loads(run("search", "weir", "--index", "both", "--retriever", "bm25", "--json")[1])
    assert [hit["document"] for hit in record["hits"]] == ["sub/weir.html"]


def test_ignored_files_leave_the_index(run, folder):
    index(run, folder)
    (folder / ".spanwiseignore").write_text("sub/\n")
    report = index(run, folder)
    assert report["deleted"] == ["sub/weir.html"]
    assert report["skipped"] == {"ignored by .spanwiseignore": 1}


def test_without_a_folder_the_nearest_index_is_synced(run, folder, monkeypatch):
    index(run, folder)
    monkeypatch.chdir(folder / "sub")
    assert index(run)["unchanged"] == 3
    assert run("search", "weir", "--retriever", "tfidf")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("notes", "papers"), 2, "--index"),
        (("notes", "notes/sub", "--index", "both"), 2, "notes/sub"),
        (("notes/tram.txt",), 1, "is a file"),
        (("--index", "nowhere"), 1, "no index in nowhere"),
        (("--drop", "papers", "--index", "notes"), 2, "papers"),
        (("bad",), 1, "broken.pdf"),
        (("notes", "--colbert", "nothing"), 1, "nothing"),
    ],
)
def test_errors_are_one_line(run, folder, papers, tmp_path, arguments, code, message):
    index(run, folder)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    exit_code, out, err = run("index", *arguments, "--lexical-only")
    assert exit_code == code
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_an_empty_index_is_named(run, folder):
    index(run, folder, "--index", "there")
    for path in sorted(folder.rglob("*.*")):
        path.unlink()
    assert index(run, "--index", "there")["kept"] == 3
    assert "3 kept" in run("ask", "who?", folder, "--index", "there", "--no-wait")[2]
    assert "--accept-deletions" in run("status", "--index", "there")[1]
    assert "absent    tram.txt  file not there now" in run("status", "--index", "there", "--files")[1]
    index(run, "--index", "there", "--accept-deletions")
    code, _, err = run("search", "who?", "--index", "there", "--retriever", "bm25")
    assert code == 1
    assert "no passages" in err
    assert err.count("\n") == 1


def test_a_folder_without_documents_keeps_the_files_beside_a_named_index(run, papers, tmp_path):
    (tmp_path / "empty").mkdir()
    assert run("index", tmp_path / "empty", "--index", papers)[0] == 1
    assert (papers / "p.txt").is_file()


def test_a_read_only_folder_has_its_index_in_the_cache(run, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SPANWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(folders, "is_writable", lambda path: False)
    assert f"its index is in {tmp_path / 'cache'}" in run("index", folder, "--lexical-only")[2]


def test_control_characters_are_made_visible(run, folder):
    (folder / "red\x1b[31m\n.txt").write_text("A zebra \u202e turned.\n")
    index(run, folder)
    out = run("search", "zebra", "--index", folder, "--retriever", "bm25")[1]
    assert "red␛[31m" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_rejected_files_and_the_language_are_in_the_status(run, folder):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    index(run, folder)
    out = run("status", "--index", folder)[1]
    hint = out.partition("list them with: spanwise ")[2].split()
    assert "English" in out
    assert "broken.pdf" in run(*hint)[1]
    code, out, _ = run("verify", "--index", folder)
    assert code == 0
    assert out.startswith("no problems: 3 documents")


def test_token_vectors_are_encoded_searched_and_dropped(run, folder, words, encoder_folder):
    def report(*options) -> dict:
        return json.loads(run("index", folder, "--model", encoder_folder, *options, "--json")[1])

    first = report("--colbert", "builtin")
    assert first["encoded_tokens"] == first["passages"] > 0
    (folder / "new.txt").write_text("A new ferry.\n")
    assert report()["encoded_tokens"] == 1
    search = ("search", "who opened the tram?", "--index", folder, "--retriever", "bm25+colbert", "--json")
    assert json.loads(run(*search)[1])["hits"][0]["document"] == "tram.txt"
    assert "by other; until then builtin answers" in run("index", folder, "--colbert", "other")[2]
    assert run("index", folder, "--colbert", "none")[0] == 0
    assert run(*search)[0] == 1


def test_remarks_are_counted_by_kind_and_listed_by_file(run, folder):
    for name in ("a.json", "b.json"):
        (folder / name).write_text("{ no JSON")
    shown = run("index", folder, "--lexical-only")[2]
    assert "2 documents: read as plain text" in shown
    listed = run("status", "--index", folder, "--remarks")[1].splitlines()
    assert [line.split()[:2] for line in listed] == [["indexed", "a.json"], ["indexed", "b.json"]]


@pytest.mark.parametrize(("passed_s", "lines"), [(29.0, ""), (31.0, "indexing: 1,200 of 5,000 files\n")])
def test_without_a_terminal_progress_is_a_line_each_half_minute(capsys, monkeypatch, passed_s, lines):
    now = [100.0]
    monkeypatch.setattr(show.time, "monotonic", lambda: now[0])
    with show.progress() as report:
        now[0] += passed_s
        report("bytes", 1, 2)
        report("files", 1_200, 5_000)
        report("files", 1_201, 5_000)
    assert capsys.readouterr().err == lines


def test_index_without_a_terminal_prints_its_progress(run, folder, monkeypatch):
    monkeypatch.setattr(show, "LINE_EVERY_S", 0.0)
    assert "indexing: 3 of 3 files\n" in run("index", folder, "--lexical-only")[2]
