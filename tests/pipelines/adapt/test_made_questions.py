"""Questions are of the documents' own words, hold no answer, and come out the same again."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from spanwise.index.analysis import Analyzer
from spanwise.index.rows import indexed_text
from spanwise.pipelines.adapt.cloze import cloze
from spanwise.pipelines.adapt.definition import definition
from spanwise.pipelines.adapt.headings import heading_questions
from spanwise.pipelines.adapt.lists import ListMaker, hidden_text
from spanwise.pipelines.adapt.made_question import MadeQuestion
from spanwise.pipelines.adapt.make_questions import make_questions, split_documents
from spanwise.types import Document, Heading, Passage

ANALYZER = Analyzer()
SENTENCE = "The last car of the first system was driven by Gustav Behr, who took the handle home."


@pytest.mark.parametrize("seed", range(4))
def test_the_rarest_name_is_missing_from_the_question(seed):
    question = cloze(SENTENCE, ANALYZER, lambda term: 1 if term == "behr" else 9, random.Random(seed))
    assert question in (
        "The last car of the first system was driven by who took the handle home",
        "last car first system driven took handle home",
    )


def test_without_a_name_the_rarest_word_is_missing():
    sentence = "the track was worn out after the war and there was no steel to renew it"
    df = {"steel": 1}
    assert "steel" not in cloze(sentence, ANALYZER, lambda term: df.get(term, 5), random.Random(0))


@pytest.mark.parametrize(
    "text",
    [
        "Too short.",
        "| a | table | of | many | cells | in | one | row |",
        "1 2 3 4 5 6 7 8 9 10 11 12",
        "x" * 9_999,
    ],
)
def test_what_is_no_prose_is_not_asked(text):
    assert cloze(text, ANALYZER, lambda term: 1, random.Random(0)) is None


@settings(max_examples=25)
@given(st.text(max_size=200), st.integers(0, 3))
def test_any_text_gives_a_question_of_its_words_or_none(text, seed):
    question = cloze(text, ANALYZER, len, random.Random(seed))
    assert question is None or set(ANALYZER.terms(question)) < set(ANALYZER.terms(text))
    assert definition(text) is None or definition(text).startswith("What ")


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("A weir is a low dam across a river.", "What is a weir?"),
        ("The Comet is the old packet boat.", "What is the Comet?"),
        ("Tide tables are a list of times.", "What are Tide tables?"),
        ("This is a warning.", None),
        ("The boat, they say, is a wreck.", None),
        ("It is.", None),
        ("", None),
    ],
)
def test_definitions(sentence, question):
    assert definition(sentence) == question


def test_headings_are_asked_with_what_they_are_part_of():
    text = "# Car seven\n\nOld.\n\n## 2.1 Brakes\n\nWeak.\n\n## How to stop the car\n\nPull.\n"
    starts = [text.index(mark) for mark in ("# Car", "## 2.1", "## How")]
    names = ["Car seven", "2.1 Brakes", "How to stop the car on a hill"]
    headings = tuple(
        Heading(at, level, name) for at, level, name in zip(starts, (1, 2, 2), names, strict=True)
    )
    document = Document("a.md", "text/markdown", "", "Trams", text, headings=headings)
    passages = [
        Passage(i + 1, "a.md", at, end, "")
        for i, (at, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True))
    ]
    found = {one.text: one for one in heading_questions(document, passages, ANALYZER)}
    assert list(found) == ["Trams: Car seven", "Car seven: Brakes", "How to stop the car on a hill"]
    assert found["Car seven: Brakes"].passage_ids == (2,)
    assert text[found["Car seven: Brakes"].start : found["Car seven: Brakes"].end] == "## 2.1 Brakes"


def test_questions_point_at_their_words_and_come_once(library):
    with library.reading() as snapshot:
        made = make_questions(snapshot, library.analyzer, 100, seed=3)
        again = make_questions(snapshot, library.analyzer, 100, seed=3)
        other = make_questions(snapshot, library.analyzer, 100, seed=4)
    everything = [*made.training, *made.validation, *made.measured]
    assert made == again
    assert made != other
    assert len({one.text for one in everything}) == len(everything) == len(made) <= 100
    assert {one.kind for one in made.measured} == {"cloze", "heading"}
    for one in everything:
        text = library.document(one.document_id).text
        assert set(ANALYZER.terms(one.text)) <= set(ANALYZER.terms(text)) | {"what", "is", "are"}
        if one.kind == "cloze":
            assert set(ANALYZER.terms(one.text)) < set(ANALYZER.terms(text[one.start : one.end]))


def test_documents_take_turns(library):
    with library.reading() as snapshot:
        made = make_questions(snapshot, library.analyzer, 24, seed=0)
    asked = [one.document_id for one in made.training]
    assert len(asked) == len(set(asked)) > 10


def test_every_document_is_in_one_part():
    names = [f"{number}.md" for number in range(50)]
    parts = split_documents(names, 0)
    assert sorted([*parts.training, *parts.validation, *parts.measured]) == sorted(names)
    assert (len(parts.measured), len(parts.validation)) == (10, 5)
    assert parts == split_documents(names[::-1], 0) != split_documents(names, 1)


def test_boilerplate_is_not_asked(tmp_path):
    line = "All rights of copying and of translating are kept by the town council and the printers."
    for number in range(10):
        (tmp_path / f"{number}.txt").write_text(f"{line}\n")
    with spanwise.open(tmp_path, tmp_path / "index", cache=False) as library:
        library.sync(vectors=False)
        with library.reading() as snapshot:
            made = make_questions(snapshot, library.analyzer, 50, seed=0)
    assert len(made) == 0


def test_the_sentence_is_taken_out_of_its_passage():
    text = f"Before it there is one that is long enough to stay. {SENTENCE} And after it another one."
    passage = Passage(1, "a.md", 100, 100 + len(text), text, heading=("Trams",))
    start = 100 + text.index(SENTENCE)
    question = MadeQuestion("…", "cloze", "a.md", start, start + len(SENTENCE), (1,))
    left = hidden_text(passage, question)
    assert SENTENCE not in left
    assert left.startswith("Trams\nBefore it there is")
    assert left.endswith("And after it another one.")
    assert hidden_text(replace(passage, text=SENTENCE, start=start), question) is None
    assert hidden_text(passage, replace(question, kind="definition")) is None


def test_lists_do_not_leak_what_was_hidden(library):
    with library.reading() as snapshot:
        made = make_questions(snapshot, library.analyzer, 100, seed=0)
        maker = ListMaker(snapshot, [library.retriever("bm25")], snapshot.passage_ids())
        lists = {one.question: one for one in maker.lists(made.training)}
        hidden = 0
        for one in made.training:
            [positive, *negatives] = lists[one.text].passages
            answering = [indexed_text(each) for each in snapshot.passages(one.passage_ids)]
            sentence = library.document(one.document_id).text[one.start : one.end]
            hidden += sentence not in positive
            assert positive == answering[0] or sentence not in positive
            assert not set(negatives) & set(answering)
    assert 0.75 < hidden / len(made.training) < 1


def test_negatives_are_of_the_documents_named(library):
    with library.reading() as snapshot:
        made = make_questions(snapshot, library.analyzer, 60, seed=0)
        among = snapshot.passage_ids_of(made.documents.training)
        maker = ListMaker(snapshot, [library.retriever("bm25")], among)
        allowed = [
            text
            for one in snapshot.passages(np.sort(among).tolist())
            for text in (indexed_text(one), one.text)
        ]
        for one in maker.lists(made.training):
            assert set(one.passages[1:]) <= set(allowed)
