"""The question sets that ship: their shape, their claim about shared words, and their sources.

The sources are looked up only where SPANWISE_DATA names a folder with `docs/rust-book.tar.xz` and the like.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest
import Stemmer

import spanwise.eval
from spanwise.eval.question_set import FolderQuestion, read_question_set

QUESTIONS = Path(spanwise.eval.__file__).parent / "questions"
FOLDERS = {
    "rust-book": "rust-book/src",
    "rust-rfcs": "rust-rfcs/text",
    "progit2": "progit2",
    "eips": "eips/EIPS",
}
SIZES = {"rust-book": (44, 34), "rust-rfcs": (44, 34), "progit2": (48, 36), "eips": (48, 36)}
OWN_WORDS = {"rust-book": 18, "rust-rfcs": 18, "eips": 15}  # of the sets that quote sentences
ROUNDS = [(20, 3, 7, 10), (24, 7, 13, 8)]  # of the Rust sets: asked, absent, how or why or list, own words
ARCHIVES = Path(os.environ.get("SPANWISE_DATA", "/nonexistent")) / "docs"
STOP_WORDS = """
a about after against all am an and any are as at be because been before being between both but by can could
did do does doing down during each few for from further had has have having he her here hers him his how i if
in into is it its itself just may me might more most must my no nor not now of off on once only or other our
out over own same shall she should so some such than that the their theirs them then there these they this
those through to too under until unless up upon very was we were what when where which while who whom whose
why will with within without would you your yours
d ll m re s t ve ain aren couldn didn doesn don hadn hasn haven isn mustn shouldn wasn weren won wouldn
"""
per_set = pytest.mark.parametrize("name", FOLDERS)
per_quoting_set = pytest.mark.parametrize("name", OWN_WORDS)


def questions(name: str) -> tuple[FolderQuestion, ...]:
    return read_question_set(QUESTIONS / f"{name}.jsonl")


def content_stems(text: str) -> set[str]:
    words = set(re.findall(r"[^\W_]+", text.casefold())) - set(STOP_WORDS.split())
    return set(Stemmer.Stemmer("english").stemWords(sorted(words)))


@per_set
def test_so_many_questions_of_which_so_many_have_an_answer(name: str) -> None:
    asked = questions(name)
    assert (len(asked), sum(question.answerable for question in asked)) == SIZES[name]


@per_set
def test_about_a_third_ask_how_why_or_for_a_list(name: str) -> None:
    types = Counter(question.type for question in questions(name))
    assert 0.33 < (types["how"] + types["why"] + types["list"]) / types.total() < 0.5
    assert min(types["how"], types["why"], types["list"]) >= 1


@per_quoting_set
def test_so_many_share_no_content_word_with_their_sentence_and_the_rest_do(name: str) -> None:
    answerable = [question for question in questions(name) if question.answerable]
    shared = {q.id: content_stems(q.question) & content_stems(q.sentence) for q in answerable}
    assert {q.id for q in answerable if q.no_shared_words} == {
        key for key, stems in shared.items() if not stems
    }
    assert sum(q.no_shared_words for q in questions(name)) == OWN_WORDS[name]


@pytest.mark.parametrize("name", ["rust-book", "rust-rfcs"])
def test_the_rust_sets_are_two_rounds_that_the_ids_tell_apart(name: str) -> None:
    asked = questions(name)
    assert [question.id for question in asked] == [f"{name}-{number:02}" for number in range(1, 45)]
    rounds = asked[:20], asked[20:]
    assert [
        (
            len(part),
            sum(not question.answerable for question in part),
            sum(question.type != "factoid" for question in part),
            sum(question.no_shared_words for question in part),
        )
        for part in rounds
    ] == ROUNDS


@per_quoting_set
def test_the_first_answer_stands_in_the_sentence(name: str) -> None:
    assert [q.id for q in questions(name) if q.answerable and q.answers[0] not in q.sentence] == []


def one_line(markdown: str) -> str:
    """The text with quote marks at line starts gone and white space collapsed."""
    return " ".join(re.sub(r"(?m)^> ?", "", markdown).split())


@per_set
def test_answers_and_sentences_stand_in_the_documents_named(name: str) -> None:
    archive = ARCHIVES / f"{name}.tar.xz"
    if not archive.is_file():
        pytest.skip(f"SPANWISE_DATA does not name a folder with docs/{archive.name}")
    wanted = {f"{FOLDERS[name]}/{path}" for question in questions(name) for path in question.documents}
    texts: dict[str, str] = {}
    with tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member) if member.name in wanted else None
            if content is not None:
                texts[member.name] = one_line(content.read().decode())
    for question in questions(name):
        held = [texts[f"{FOLDERS[name]}/{path}"] for path in question.documents]
        assert [path for path in held if not any(answer in path for answer in question.answers)] == []
        assert [answer for answer in question.answers if not any(answer in text for text in held)] == []
        assert question.sentence in "".join(held[:1])
