"""Summaries through the library and the command line: quoted, generated, checked, cited, refused."""

from __future__ import annotations

import json
import re

import pytest

import spanwise
from spanwise.errors import DocumentNotFound, GenerationFailed, IndexEmpty
from spanwise.pipelines.summarize import choose_sentences, summary_record
from spanwise.types import Filter, Verdict
from tests.scripted_reader import read_by

TEXTS = {
    "mill.md": "# The mill\n\nThe mill was built in 1811 by Ada Rook. It burned on 3 May 1871. "
    "The mill was rebuilt with three floors. Its wheel turns two pairs of stones.\n",
    "2024-02-29.md": "# Minutes\n\nAll the people here like the old wheel.\n\n## Wheel\n\nWe buy one.\n\n"
    "## Stones\n\nWe keep all.\n",
    "tram.md": "---\ndate: 1903-05-01\n---\n# The tram\n\n"
    "The tram was opened in 1903. It ran to the harbour every ten minutes.\n",
}
QUESTION = "When was the mill built, and what happened to the mill?"


class Scripted:
    """Writes a text in pieces of seven characters, and keeps the prompts."""

    name = "scripted"

    def __init__(self, text, context_tokens=100_000):
        self.text, self.context_tokens, self.prompts = text, context_tokens, []

    def count_tokens(self, messages):
        return sum(len(one["content"]) for one in messages)

    def generate(self, messages, max_tokens, timeout_s=None):
        self.prompts.append(messages)
        for at in range(0, len(self.text), 7):
            yield self.text[at : at + 7]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with spanwise.open(folder) as opened:
        opened.sync(vectors=False)
    return folder


@pytest.fixture(scope="module")
def library(folder):
    with spanwise.open(folder) as opened:
        yield opened


def summarize(library, text=None, question=QUESTION, **changes):
    generator = "extractive" if text is None else Scripted(text)
    return library.summarize(question, retriever="bm25", generator=generator, **changes)


def check_citations(library, summary):
    """Every citation is verbatim at its place in a passage of the index."""
    for citation in summary.citations:
        span, document = citation.span, library.document(citation.span.document_id)
        assert document.text[span.start : span.end] == span.text
        assert span.text.splitlines()[0] in document.text.splitlines()[citation.line - 1]
        assert citation.passage.start <= span.start < span.end <= citation.passage.end


def test_chosen_sentences_are_quotes_that_cite_themselves(library):
    summary = summarize(library)
    assert summary.generator == "extractive"
    assert all(one.verdict == Verdict.SUPPORTED for one in summary.sentences)
    assert "The mill was built in 1811 by Ada Rook." in [one.text for one in summary.sentences]
    assert all(one.text == one.citations[0].span.text for one in summary.sentences)
    assert len(summarize(library, max_sentences=1).sentences) == 1
    check_citations(library, summary)


def test_a_question_about_something_else_is_refused(library):
    summary = summarize(library, question="Which submarine does the queen of Atlantis own?")
    assert (summary.is_refusal, summary.text) == (True, "")


def test_the_most_relevant_sentences_are_chosen_once_and_none_far_below():
    terms = [text.split() for text in ("ada built the mill", "the mill ada built", "it burned", "it ran")]
    assert choose_sentences(terms, [0.6, 0.7, 0.9, 0.2], 2) == [1, 2]
    assert choose_sentences(terms, [0.6, 0.7, 0.9, 0.2], 4) == [1, 2]
    assert choose_sentences(terms, [0.6, 0.7, 0.9, 0.5], 4) == [1, 2, 3]


def test_the_sentence_that_answers_comes_first_then_those_with_numbers(folder, monkeypatch):
    with spanwise.open(folder) as library:
        read_by(library, monkeypatch, ("pairs of stones", 9.0, 0.0))
        found = summarize(library, question="How many stones has the mill?", max_sentences=20).sentences
    assert found[0].text == "Its wheel turns two pairs of stones."
    numbered = [re.search(r"\d|two|three|ten", one.text) is not None for one in found]
    assert numbered == sorted(numbered, reverse=True)
    assert not all(numbered)


def test_without_a_question_there_is_an_overview(library):
    found = library.summarize()
    assert (found.sentences, found.is_refusal, found.passages) == ((), False, len(library.passages()))
    overview = found.overview
    assert (overview.documents, overview.formats) == (3, {"md": 3})
    assert overview.dates == ("1903-05-01", "2024-02-29")
    assert [(one.name, one.title, one.headings) for one in overview.entries] == [
        ("2024-02-29.md", "Minutes", ("Wheel", "Stones")),
        ("mill.md", "The mill", ()),
        ("tram.md", "The tram", ()),
    ]
    assert json.loads(json.dumps(summary_record(found)))["overview"]["formats"] == {"md": 3}
    narrowed = library.summarize(where=Filter(paths=("mill.md",)))
    assert (narrowed.overview.documents, narrowed.scope.documents) == (1, 1)
    assert library.summarize(where=Filter(paths=("none/",))).is_refusal


def test_many_documents_are_grouped_by_folder(tmp_path, run):
    for number in range(30):
        file = tmp_path / f"docs/{'ab'[number % 2]}/{number:02}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Mill {number}\n\nIt grinds rye.\n")
    run("index", tmp_path, "--lexical-only")
    lines = run("summarize", "--index", tmp_path)[1].splitlines()
    assert lines[0] == "documents: 30 (30 md), passages: 30"
    assert [line.partition(": Mill")[0] for line in lines[1:]] == [
        f"docs/{name}/  15 documents, 15 passages" for name in "ab"
    ]


def test_generated_sentences_are_checked_and_cite_their_support(library):
    text = "The mill was built in 1811 by Ada Rook [2]. It burned on 4 May 1871 [1]. Otto Falk rebuilt it."
    summary = summarize(library, text)
    right, date, name = summary.sentences
    assert [one.verdict.value for one in summary.sentences] == ["supported", "unsupported", "unsupported"]
    assert right.cited == "The mill was built in 1811 by Ada Rook. [1]"
    assert [(one.failure, one.words) for one in date.findings] == [("factual", "4 May")]
    assert ("extrinsic", "Otto") in [(one.failure, one.words) for one in name.findings]
    assert not date.citations
    check_citations(library, summary)


def test_strict_drops_unsupported_sentences(library):
    kept = summarize(library, "The mill burned on 3 May 1871. The queen sold it.", strict=True)
    assert [one.text for one in kept.sentences] == ["The mill burned on 3 May 1871."]
    assert [one.text for one in kept.dropped] == ["The queen sold it."]
    none = summarize(library, "The queen sold it for gold.", strict=True)
    assert none.is_refusal
    assert none.nearest


def test_a_generator_may_refuse_and_must_not_be_silent(library):
    assert summarize(library, "The documents do not say.").is_refusal
    with pytest.raises(GenerationFailed, match="wrote nothing"):
        summarize(library, "  ")


def test_passages_that_do_not_fit_into_the_prompt_are_counted(library):
    summary = library.summarize(QUESTION, retriever="bm25", generator=Scripted("Nothing.", 301))
    assert (summary.passages, summary.left_out, summary.is_refusal) == (0, 1, True)


def test_the_record(library):
    summary = summarize(library, "The mill burned on 3 May 1871. The *queen* sold it.")
    record = json.loads(json.dumps(summary_record(summary)))
    first, second = record["sentences"]
    assert (first["verdict"], first["support"]) == ("supported", 0.875)
    assert first["citations"][0]["text"] == "It burned on 3 May 1871."
    assert (second["citations"], record["generator"]) == ([], "scripted")


def test_bad_calls_are_named(library, tmp_path):
    with pytest.raises(ValueError, match="question or a document"):
        library.summarize("Why?", document="mill.md")
    with pytest.raises(ValueError, match="max_sentences is 0"):
        library.summarize("Why?", max_sentences=0)
    with pytest.raises(DocumentNotFound, match=r"mill\.md"):
        library.summarize(document="mil.md")
    with spanwise.open(tmp_path) as empty, pytest.raises(IndexEmpty):
        empty.summarize("Why?")


def test_the_command_prints_text_and_json(folder, run):
    def summarized(*options):
        return run("summarize", QUESTION, folder, "--retriever", "bm25", "--max-sentences", 2, *options)

    assert "mill.md, line 3" in summarized()[1]
    record = json.loads(summarized("--strict", "--json")[1])
    assert record["sentences"][0]["citations"][0]["document"] == "mill.md"
    code, _, err = summarized("--document", "mill.md")
    assert (code, "Traceback" in err) == (2, False)
