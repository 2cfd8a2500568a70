"""The written form of an answer."""

from __future__ import annotations

import pytest
from scripted_generator import ScriptedGenerator

import spanwise
from spanwise.pipelines.summarizing.writing import Writing
from spanwise.reader.decoding.settings import preset

QUESTION = "Who built the mill?"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    (folder / "mill.md").write_text(
        "# The mill\n\nThe mill was built in 1811 by Ada Rook. It burned in 1871.\n"
    )
    with spanwise.open(folder, tmp_path_factory.mktemp("index")) as opened:
        opened.sync(vectors=False)
        yield opened


def written(library, *texts, question=QUESTION, threshold=0.0):
    answer = library.ask(question, retriever="bm25", threshold=threshold)
    return library.written(answer, Writing(ScriptedGenerator(*texts), preset("factual")) if texts else None)


def test_without_a_generator_it_is_the_sentence_that_carries_the_answer(library):
    summary = written(library)
    assert (summary.text, summary.generator) == ("The mill was built in 1811 by Ada Rook. [1]", "extractive")


def test_a_supported_sentence_with_the_answer_is_taken(library):
    summary = written(library, "Ada Rook built the mill in 1811.")
    assert summary.text == "Ada Rook built the mill in 1811. [1]"
    assert summary.generator == "scripted"


@pytest.mark.parametrize(
    "text", ["Otto Falk built the mill.", "The mill burned in 1871.", "The documents do not say."]
)
def test_what_is_unsupported_or_says_something_else_gives_way_to_the_sentence(library, text):
    summary = written(library, text)
    assert (summary.text, summary.generator) == ("The mill was built in 1811 by Ada Rook. [1]", "extractive")
    assert [one.text for one in summary.dropped] == ([] if "do not say" in text else [text])


def test_a_declined_answer_is_a_refusal(library):
    assert written(library, "Ada Rook.", question="Who owns Atlantis?", threshold=1.0).is_refusal
