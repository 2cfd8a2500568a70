"""Which words of a question the documents lack, and what a misspelled one was meant for."""

from __future__ import annotations

import pytest

import spanwise
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.declined import missing_terms, question_words, unknown_words
from spanwise.types import Passage


def words_of(question: str) -> list[str]:
    return [word.of(question) for word in question_words(question, Analyzer()).values()]


@pytest.fixture
def library(folder, encoder_folder):
    (folder / "mills.txt").write_text(
        "Mills were built here. Millet grew behind the Rookery, and Rookery it is.\n"
    )
    with spanwise.open(folder, model=encoder_folder) as opened:
        opened.sync(vectors=False)
        yield opened


def unknown(library, question: str) -> dict[str, str | None]:
    snapshot = library.snapshot
    words = question_words(question, library.analyzer)
    found = unknown_words(words, snapshot.postings(), snapshot, library.analyzer)
    return {each.word.of(question): each.nearest.text if each.nearest else None for each in found}


def test_stop_words_are_none_unless_there_is_nothing_else():
    assert words_of("Who built the mill?") == ["built", "mill"]
    assert words_of("To be or not to be?") == ["To", "be", "or", "not"]


def test_words_are_places_in_the_question_as_it_was_asked():
    assert words_of("  Wer baute die  MÜHLE des \ufb01shers?") == [
        "Wer",
        "baute",
        "die",
        "MÜHLE",
        "des",
        "\ufb01shers",
    ]


def test_a_heading_holds_a_word_too():
    passage = Passage(1, "a.md", 0, 9, "built 1811", heading=("The mill",))
    question = "who sold or built the mill?"
    missing = missing_terms(question_words(question, Analyzer()), [passage], Analyzer())
    assert [word.of(question) for word in missing] == ["sold"]


def test_a_word_that_stands_nowhere_is_told_with_the_most_common_one_like_it(library):
    assert unknown(library, "Who built the zeppelin mlil?") == {"zeppelin": None, "mlil": "mill"}


def test_a_word_that_stands_somewhere_is_not_told(library):
    assert unknown(library, "Who raised the weir?") == {}


def test_short_words_and_figures_are_not_guessed_at(library):
    assert unknown(library, "tra 1821") == {"tra": None, "1821": None}


def test_the_nearest_word_is_a_span_of_its_document(library):
    snapshot = library.snapshot
    words = question_words("tarm", library.analyzer)
    (found,) = unknown_words(words, snapshot.postings(), snapshot, library.analyzer)
    document = snapshot.document(found.nearest.document_id)
    assert document.text[found.nearest.start : found.nearest.end] == found.nearest.text == "tram"


def test_words_of_a_deleted_document_are_not_suggested(library, folder):
    (folder / "tram.txt").unlink()
    library.sync(vectors=False)
    assert unknown(library, "tarm") == {"tarm": None}


def test_many_unknown_words_are_all_told(library):
    question = " ".join(f"zz{letter}zz" for letter in "abcdefgh")
    assert list(unknown(library, question)) == question.split()
