"""`spanwise summarize` and `ask --write` from the command line."""

from __future__ import annotations

import json

import pytest

import spanwise
from spanwise.pipelines.cli.app import main

TEXT = (
    "# The mill\n\nThe mill was built in 1811 by Ada Rook. It burned on 3 May 1871. "
    "Its wheel still turns two stones.\n"
)


@pytest.fixture
def index(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mill.md").write_text(TEXT)
    with spanwise.open(tmp_path / "docs", tmp_path / "index") as library:
        library.sync(vectors=False)
    return str(tmp_path / "index")


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    out, err = capsys.readouterr()
    return stopped.value.code, out, err


def test_a_question_a_document_and_all(capsys, index):
    for what in (["When was the mill built?", "--retriever", "bm25"], ["--document", "mill.md"], []):
        code, out, err = run(capsys, "summarize", *what, "--index", index, "--length", "short")
        assert code == 0, err
        assert "[1]" in out
        assert "[1] mill.md, line 3, The mill" in out


def test_json_and_markdown(capsys, index):
    _, out, _ = run(capsys, "summarize", "--document", "mill.md", "--index", index, "--json")
    record = json.loads(out)
    assert {"question", "sentences", "dropped", "generator", "timings_ms"} <= set(record)
    for sentence in record["sentences"]:
        for citation in sentence["citations"]:
            assert TEXT[citation["start"] : citation["end"]] == citation["text"]
    _, out, _ = run(capsys, "summarize", "--document", "mill.md", "--index", index, "--markdown")
    assert "[^1]: mill.md, line 3" in out


def test_streamed_sentences_are_the_same(capsys, index):
    call = ("summarize", "--document", "mill.md", "--index", index)
    whole, streamed = (run(capsys, *call, *more)[1].rpartition("\n\n")[0] for more in ((), ("--stream",)))
    assert whole == streamed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["Why?", "--document", "mill.md"], "give a question or --document"),
        (["Why?", "--length", "tiny"], "short, medium, long"),
        (["Why?", "--preset", "long"], "extractive decodes nothing"),
        (["Why?", "--stream", "--json"], "--stream"),
        (["--document", "mil.md"], "the nearest are mill.md"),
        (["Why?", "--generator", "no/such-folder"], "no/such-folder"),
        (["Who built it?", "--generator", "http://127.0.0.1:9#m", "--retriever", "bm25"], "127.0.0.1:9"),
    ],
)
def test_wrong_usage_is_one_line(capsys, index, arguments, told):
    code, _, err = run(capsys, "summarize", *arguments, "--index", index)
    assert code in (1, 2)
    assert told in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("generator", "written"),
    [
        ([], "The mill was built in 1811 by Ada Rook."),
        (["--generator", "extractive"], "The mill was built in 1811 by Ada Rook."),
    ],
)
def test_ask_writes_a_statement_or_the_sentence_with_its_citation(capsys, index, generator, written):
    code, out, err = run(
        capsys,
        "ask",
        "Who built the mill?",
        "--index",
        index,
        "--write",
        *generator,
        "--threshold",
        "0",
        "--retriever",
        "bm25",
    )
    assert code == 0, err
    assert out.startswith(f"{written} [1]\n")
    assert "[1] mill.md, line 3" in out
    _, out, _ = run(
        capsys,
        "ask",
        "Who built the mill?",
        "--index",
        index,
        "--write",
        "--json",
        "--threshold",
        "0",
        "--retriever",
        "bm25",
    )
    assert json.loads(out)["written"]["sentences"][0]["citations"][0]["document"] == "mill.md"


def test_a_declined_question_stays_declined(capsys, index):
    _, out, _ = run(
        capsys,
        "ask",
        "Who owns Atlantis?",
        "--index",
        index,
        "--write",
        "--threshold",
        "1",
        "--retriever",
        "bm25",
    )
    assert out.startswith("not in these documents")
