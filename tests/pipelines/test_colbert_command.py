"""Token vectors from the command line: made, searched, explained, told about and dropped again."""

from __future__ import annotations

import json

import pytest
from made_collections import write_beir_folder

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
    options = ("--retriever", "colbert", "--reader", reader_folder, "--threshold", 0)
    code, out, err = run("ask", QUESTION, *indexed, *options, "--json")
    assert code == 0, err
    assert json.loads(out)["retriever"] == "colbert"
    assert json.loads(run("ask", QUESTION, *indexed, *options, "--json")[1])["cached"]


def test_a_collection_is_evaluated(run, tmp_path, words):
    write_beir_folder(tmp_path / "toy")
    options = (
        "--retriever",
        "colbert",
        "--retriever",
        "bm25+colbert",
        "--measures",
        "RR",
    )
    code, out, err = run("eval", "retrieval", "--data", tmp_path / "toy", *options, "--out", "out", "--json")
    assert code == 0, err
    assert list(json.loads(out)) == ["colbert", "bm25+colbert"]
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())["settings"]
    assert settings["colbert"] == "builtin"


def test_a_folder_is_judged(run, tmp_path, indexed, folder, reader_folder):
    asked = {"question": QUESTION, "answers": ["Ute Falk"], "documents": ["tram.txt"], "answerable": True}
    (tmp_path / "q.jsonl").write_text(json.dumps(asked) + "\n")
    options = ("--questions", "q.jsonl", "--retriever", "colbert", "--reader", reader_folder, "--out", "out")
    code, _, err = run("eval", "folder", folder, *options)
    assert code == 0, err
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())["settings"]
    assert settings["colbert"] == "builtin"
