"""A user's own retriever, reader and parser: used as they are, and held to their contracts."""

import pytest

from spanwise.errors import ContractBroken, DocumentRejected
from spanwise.types import Document, Filter, Hit, ScoredSpan, Span

QUESTION = "Who built the mill?"


class Longest:
    """Ranks passages by their length."""

    def __init__(self, passages):
        self.passages = passages

    def search(self, questions, k, among=None):
        allowed = [p for p in self.passages if among is None or p.id in among]
        best = sorted(allowed, key=lambda p: -len(p.text))[:k]
        return [[Hit(p, float(len(p.text)), n) for n, p in enumerate(best, 1)] for _ in questions]


class FirstWord:
    """Answers with the first word of a passage."""

    def read(self, questions, passages, n_best=5):
        return [[[self.span(p)] for p in group] for group in passages]

    def span(self, passage):
        word = passage.text.strip("# ").split()[0]
        start = passage.start + passage.text.index(word)
        span = Span(passage.document_id, start, start + len(word), word)
        return ScoredSpan(span, passage, 1.0, 0.0)


def test_an_own_retriever_is_searched(library):
    own = Longest(library.passages())
    hits = library.search(QUESTION, retriever=own, dedupe=False)
    assert [len(hit.passage.text) for hit in hits] == sorted(
        (len(p.text) for p in library.passages()), reverse=True
    )
    selected = library.search(QUESTION, retriever=own, where=Filter(paths=("*.txt",)))
    assert {hit.passage.document_id for hit in selected} == {"tram.txt"}


def test_an_own_reader_answers_without_confidence(library):
    answer = library.ask(QUESTION, retriever="bm25", reader=FirstWord())
    assert answer.best.text == answer.best.passage.text.strip("# ").split()[0]
    assert answer.confidence is None
    text = library.document(answer.span.document_id).text
    assert text[answer.span.start : answer.span.end] == answer.text


def test_an_own_retriever_and_an_own_reader_can_be_explained(library):
    explanation = library.explain(QUESTION, retriever=Longest(library.passages()), reader=FirstWord())
    assert [rank.stage for rank in explanation.ranks] == ["custom"]


def stranger(passage):
    span = Span(passage.document_id, passage.start, passage.start + 2, "??")
    return ScoredSpan(span, passage, 1.0, 0.0)


@pytest.mark.parametrize(
    ("span", "says"),
    [
        (stranger, "gave '\\?\\?' where"),
        (lambda passage: 7, "gave 7"),
        (lambda passage: 1 / 0, "failed: ZeroDivisionError"),
    ],
)
def test_a_reader_that_breaks_its_contract_is_named(library, span, says):
    own = FirstWord()
    own.span = span
    with pytest.raises(ContractBroken, match=f"FirstWord {says}"):
        library.ask(QUESTION, retriever="bm25", reader=own)


def test_an_object_without_the_method_is_rejected(library):
    with pytest.raises(ContractBroken, match="has no method read"):
        library.ask(QUESTION, retriever="bm25", reader=object())


def recipe(data: bytes, document_id: str) -> Document:
    if not data:
        raise DocumentRejected("an empty recipe")
    return Document(document_id, "text/recipe", "", "Bread", data.decode().upper())


def test_an_own_parser_reads_files_of_its_suffix(library, folder):
    (folder / "bread.recipe").write_text("flour and water")
    (folder / "none.recipe").write_text("")
    report = library.sync(vectors=False, parsers={".recipe": recipe})
    assert report.added == ("bread.recipe",)
    [rejected] = report.rejected
    assert rejected.document_id == "none.recipe"
    assert rejected.reason == "an empty recipe"
    assert library.document("bread.recipe").text == "FLOUR AND WATER"
    assert library.search("flour", retriever="bm25")[0].passage.document_id == "bread.recipe"


def test_another_parser_parses_its_files_again(library):
    assert library.sync(vectors=False, parsers={".txt": recipe}).updated == ("tram.txt",)
    assert library.sync(vectors=False, parsers={".txt": recipe}).unchanged == 3


def test_a_parser_that_fails_rejects_its_file_alone(library, folder):
    (folder / "a.log").write_text("x")
    report = library.sync(vectors=False, parsers={".log": lambda data, name: 1 / 0})
    assert "failed: ZeroDivisionError" in report.rejected[0].reason
    assert report.unchanged == 3
