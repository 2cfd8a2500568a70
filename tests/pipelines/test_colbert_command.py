"""Token vectors from the command line: made, searched, explained, told about and dropped again."""

from __future__ import annotations

import json

import pytest
from made_collections import write_beir_folder

from spanwise.models import fingerprint

QUESTION = "who opened the tram?"


@pytest.fixture
def index(run, folder, words, encoder_folder):
    """Runs `index` on the folder with a tiny dense model: (exit code, stdout, stderr)."""
    return lambda *options: run("index", folder, "--model", encoder_folder, *options)


@pytest.fixture
def indexed(index, folder):
    assert index("--colbert", "builtin")[0] == 0
    return ("--index", folder)


def search(run, *options) -> dict:
    code, out, err = run("search", QUESTION, *options, "--json")
    assert code == 0, err
    return json.loads(out)


def test_index_makes_token_vectors_and_keeps_them_up(run, index, folder):
    report = json.loads(index("--colbert", "builtin", "--json")[1])
    assert report["encoded_tokens"] == report["passages"] > 0
    (folder / "new.txt").write_text("A new ferry.\n")
    code, _, err = index()
    assert (code, "token vectors made: 1 passages" in err) == (0, True)


@pytest.mark.parametrize("retriever", ["colbert", "bm25+colbert", "dense+colbert", "bm25+dense+colbert"])
def test_every_spelling_searches(run, indexed, retriever):
    record = search(run, *indexed, "--retriever", retriever, "--exact")
    assert record["retriever"] == retriever
    assert len(record["hits"]) > 1
    assert record["hits"][0]["document"] == "tram.txt" or retriever.startswith("dense")


def test_ask_answers_from_what_colbert_found(run, indexed, reader_folder, monkeypatch):
    monkeypatch.setattr(fingerprint, "SETTLED_S", 0.0)
    options = ("--retriever", "colbert", "--reader", reader_folder, "--threshold", 0)
    code, out, err = run("ask", QUESTION, *indexed, *options, "--json")
    assert code == 0, err
    assert json.loads(out)["retriever"] == "colbert"
    assert json.loads(run("ask", QUESTION, *indexed, *options, "--json")[1])["cached"]


@pytest.mark.parametrize(
    ("verb", "options", "code", "says"),
    [
        ("index", ("--colbert", "nowhere"), 1, "nowhere"),
        ("index", ("--colbert", "builtin", "--colbert-bits", 3), 2, "2, 4, 8"),
        ("index", ("--colbert", "builtin", "--colbert-pool", 0), 2, "colbert-pool"),
        ("index", ("--colbert-bits", 2), 2, "--colbert builtin"),
        ("search", ("--retriever", "colbert"), 1, "--colbert builtin"),
        ("search", ("--retriever", "bm25+colbert"), 1, "--colbert builtin"),
        ("search", ("--retriever", "colbert+colbert"), 2, "colbert"),
        ("ask", ("--retriever", "colbert"), 1, "--colbert builtin"),
    ],
)
def test_errors_are_one_line_that_says_what_mends_it(run, index, folder, verb, options, code, says):
    index()
    place = (folder,) if verb == "index" else (QUESTION, "--index", folder)
    got, out, err = run(verb, *place, *options)
    assert (got, out, err.count("\n")) == (code, "", 1), err
    assert says in err


def test_a_wrong_model_makes_no_index(index, folder):
    assert index("--colbert", "nowhere")[0] == 1
    assert not (folder / ".spanwise").exists()


def test_another_model_is_told_and_takes_over(run, index, indexed):
    code, _, err = index("--colbert", "other", "--colbert-bits", 2)
    assert code == 0
    assert "the token vectors of builtin (4 bits) were dropped" in err
    assert "by other (2 bits)" in err
    record = json.loads(run("status", *indexed, "--json")[1])
    assert (record["colbert"]["model"], record["colbert"]["bits"], record["colbert"]["missing"]) == (
        "other",
        2,
        0,
    )


def test_none_drops_them(run, index, indexed):
    code, _, err = index("--colbert", "none")
    assert (code, "were dropped" in err) == (0, True)
    record = json.loads(run("status", *indexed, "--json")[1])
    assert (record["colbert"], "tokens" in record["disk"]) == (None, False)


def test_status_tells_of_tokens(run, index, indexed):
    record = json.loads(run("status", *indexed, "--json")[1])
    colbert = record["colbert"]
    assert list(colbert) == ["model", "bits", "pool", "passages", "missing", "tokens", "bytes"]
    assert (colbert["passages"], colbert["missing"]) == (record["passages"], 0)
    assert colbert["tokens"] > colbert["passages"]
    assert colbert["bytes"] == record["disk"]["tokens"] + record["disk"]["codebook"]
    assert set(record["disk"]) == {"catalog", "postings", "vectors", "tokens", "codebook", "codes", "answers"}
    out = run("status", *indexed)[1]
    assert f"{colbert['tokens']} token vectors of {colbert['passages']} passages by builtin" in out


def test_what_is_missing_is_told(run, index, indexed, folder):
    (folder / "new.txt").write_text("A new ferry.\n")
    index("--lexical-only")
    assert "search by tokens lacks 1 passages" in run("status", *indexed)[1]
    findings = json.loads(run("doctor", *indexed, "--json")[1])["findings"]
    [finding] = [each for each in findings if each["subject"] == "colbert"]
    assert (finding["state"], "spanwise index" in finding["advice"]) == ("warn", True)


def test_doctor_knows_the_model(run, index, indexed, words):
    findings = json.loads(run("doctor", *indexed, "--json")[1])["findings"]
    assert {each["subject"]: each["state"] for each in findings}["colbert"] == "ok"
    del words["builtin"]
    code, out, _ = run("doctor", *indexed, "--json")
    assert code == 1
    assert {each["subject"]: each["state"] for each in json.loads(out)["findings"]}["colbert"] == "fail"


def test_a_collection_is_evaluated(run, tmp_path, words):
    write_beir_folder(tmp_path / "toy")
    options = (
        "--retriever",
        "colbert",
        "--retriever",
        "bm25+colbert",
        "--measures",
        "RR",
        "--colbert-bits",
        8,
    )
    code, out, err = run("eval", "retrieval", "--data", tmp_path / "toy", *options, "--out", "out", "--json")
    assert code == 0, err
    assert list(json.loads(out)) == ["colbert", "bm25+colbert"]
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())["settings"]
    assert (settings["colbert"], settings["colbert_bits"]) == ("builtin", 8)


def test_a_folder_is_judged(run, tmp_path, indexed, folder, reader_folder):
    asked = {"question": QUESTION, "answers": ["Ute Falk"], "documents": ["tram.txt"], "answerable": True}
    (tmp_path / "q.jsonl").write_text(json.dumps(asked) + "\n")
    options = ("--questions", "q.jsonl", "--retriever", "colbert", "--reader", reader_folder, "--out", "out")
    code, _, err = run("eval", "folder", folder, *options)
    assert code == 0, err
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())["settings"]
    assert (settings["colbert"], settings["colbert_bits"]) == ("builtin", "4")
