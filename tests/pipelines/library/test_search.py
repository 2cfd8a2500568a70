"""The result of a search: its hits as a sequence, and what was searched."""

import pytest

import spanwise
from spanwise.types import Filter

QUESTION = "who built the mlil?"


@pytest.fixture
def result(library) -> spanwise.SearchResult:
    return library.search(QUESTION, retriever="bm25", where=Filter(paths=("*.md",)))


def test_a_result_is_the_sequence_of_its_hits(result):
    hits = list(result)
    assert result == hits == list(result.hits) != []
    assert len(result) == len(hits)
    assert result[0] is hits[0]
    assert result[:1] == hits[:1]
    assert hits[0] in result
    assert result != []


def test_results_are_equal_by_their_hits(library, result):
    assert result == library.search("who built the mill?", retriever="bm25", where=Filter(paths=("*.md",)))


def test_a_result_names_the_words_that_were_searched(result):
    assert result.spelling.question == QUESTION
    assert result.spelling.text == "who built the mill?"
    assert [(each.term.of(QUESTION), each.word) for each in result.spelling.searched_for] == [
        ("mlil", "mill")
    ]


def test_a_result_says_what_was_searched(library, result):
    assert result.retriever == "bm25"
    assert (result.scope.documents, result.scope.of_documents) == (1, 3)
    assert result.left_out == ""
    assert library.search(QUESTION).left_out == library.left_out()
    assert library.search(QUESTION).scope is None


def test_spelling_is_corrected_once_per_question(library, monkeypatch):
    corrected = []
    spelling_of = spanwise.pipelines.understanding.spelling.spelling_of

    def count(question, *rest):
        corrected.append(question)
        return spelling_of(question, *rest)

    monkeypatch.setattr(spanwise.pipelines.library.open_commit, "spelling_of", count)
    monkeypatch.setattr(spanwise.pipelines.understanding.question, "spelling_of", count)
    library.search(QUESTION, retriever="bm25")
    assert corrected == [QUESTION]
