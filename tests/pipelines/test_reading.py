"""Passages are left unread where the first ones were enough, and only there; and it is told."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_reader import Scripted, asker, by_margin, read_by

from spanwise.pipelines.candidates import margin
from spanwise.pipelines.cli.ask import show_answer
from spanwise.pipelines.reading import read_until_enough
from spanwise.pipelines.records import answer_record
from spanwise.pipelines.selection import select
from spanwise.reader.evidence import Stopping
from spanwise.types import Filter, Hit, Passage, ScoredSpan

BOTH = "Who built the mill, opened the tram or raised the weir?"  # three passages or more are found
WORDS = {"mill.md": "Ada Rook", "tram.txt": "Ute Falk", "sub/weir.html": "1920"}
SURE = (("Ada Rook", 9.0, 0.0), ("Ute Falk", 2.0, 0.0), ("1920", 1.0, 0.0))
RULE = Stopping(first=1, of=20, margin=5.0)


class Noted(Scripted):
    """Says the whole passage with the margin that stands in it; remembers what it read, a list a call."""

    def __init__(self) -> None:
        self.calls: list[list[list[str]]] = []

    def read(self, questions, passages, n_best=5):
        self.calls.append([[passage.text for passage in group] for group in passages])
        return super().read(questions, passages, n_best)

    def _spans(self, passage):
        spans = Scripted((passage.text, float(passage.text), 0.0))._spans(passage)
        return spans if float(passage.text) > -9 else []


def hits_of(*margins: float) -> list[Hit]:
    """A hit for each margin, its passage saying it."""
    texts = [str(float(one)) for one in margins]
    return [
        Hit(Passage(at, f"{at}.txt", 0, len(text), text), 1.0 / at, at, {})
        for at, text in enumerate(texts, 1)
    ]


def passing(calibration=None, rule=RULE):
    return replace(calibration or by_margin(0.1), stopping=rule)


def first_of(library, question=BOTH) -> str:
    """The document that ranks first for a question."""
    return asker(library).retriever.search([question], 1)[0][0].passage.document_id


def test_only_what_is_not_enough_is_read_on_in_a_second_batch():
    reader = Noted()
    hits = [hits_of(1, 2, 8), hits_of(6, 1, 9), hits_of(), hits_of(4), hits_of(0, 5, 3)]
    readings = read_until_enough(reader, ["a", "b", "c", "d", "e"], hits, replace(RULE, first=2))
    assert [len(reading) for reading in readings] == [3, 2, 0, 1, 2]
    assert reader.calls[1:] == [[["8.0"]]]
    said = [[spans[0].span.text for spans in reading] for reading in readings]
    assert said == [["1.0", "2.0", "8.0"], ["6.0", "1.0"], [], ["4.0"], ["0.0", "5.0"]]


def test_more_passages_than_it_was_fitted_for_are_all_read_at_once():
    reader = Noted()
    [reading] = read_until_enough(reader, ["a"], [hits_of(9, 9, 9)], Stopping(first=1, of=2, margin=5.0))
    assert (len(reading), len(reader.calls)) == (3, 1)


MARGINS = st.lists(st.lists(st.integers(-10, 10), max_size=6), max_size=4)


@given(MARGINS, st.integers(1, 5), st.integers(-10, 11))
def test_the_best_is_that_of_all_wherever_it_was_read(margins, first, least):
    hits = [hits_of(*of_question) for of_question in margins]
    questions = [str(at) for at in range(len(hits))]
    rule = Stopping(first, 6, float(least))
    everything = read_until_enough(Noted(), questions, hits, None)
    for read, whole in zip(read_until_enough(Noted(), questions, hits, rule), everything, strict=True):
        assert read == whole[: len(read)]
        assert len(read) in (len(whole), first)
        left = best(whole[len(read) :])
        if left is None or (best(read) or -math.inf) >= left:
            assert best(read) == best(whole)


def best(reading: list[list[ScoredSpan]]) -> float | None:
    return max((margin(scored) for spans in reading for scored in spans), default=None)


def test_a_sure_answer_leaves_the_rest_unread_and_is_the_same(library):
    script = ((WORDS[first_of(library)], 9.0, 0.0),)
    (sure,) = asker(library, *script, calibration=passing()).ask([BOTH])
    (all_read,) = asker(library, *script, calibration=passing()).ask([BOTH], read_all=True)
    assert (sure.passages_read, sure.passages_unread, all_read.passages_unread) == (1, 2, 0)
    assert all_read.passages_read == 3
    assert (sure.best, sure.nearest) == (all_read.best, all_read.nearest)
    assert answer_record(sure)["searched"]["passages_unread"] == 2


@pytest.mark.parametrize("scores", [*product((1.0, 6.0, 9.0), repeat=3)])
def test_the_answer_is_that_of_all_where_its_passage_was_read(library, scores):
    script = [(words, score, 0.0) for words, score in zip(WORDS.values(), scores, strict=True)]
    one = asker(library, *script, calibration=passing())
    ([part], [whole]) = (one.trace([BOTH], read_all=read_all) for read_all in (False, True))
    enough = scores[list(WORDS).index(first_of(library))] >= RULE.margin
    assert part.answer.passages_unread == (2 if enough else 0)
    if whole.answer.best.passage in [hit.passage for hit in part.read]:
        assert part.answer.best.span == whole.answer.best.span


def test_where_nothing_is_enough_all_is_as_without_the_rule(library):
    never = passing(rule=replace(RULE, margin=50.0))
    with_rule, without = (
        replace(asker(library, *SURE, calibration=one).ask([BOTH])[0], timings_ms={})
        for one in (never, by_margin(0.1))
    )
    assert with_rule == without


def test_questions_of_one_call_are_decided_one_by_one(library):
    one = asker(library, *SURE, calibration=passing())
    questions = ["When was the weir raised?", "Who built the mill?", BOTH, "zebra?"]
    together = one.trace(questions)
    alone = [one.trace([question])[0] for question in questions]
    assert [asked.answer.question for asked in together] == questions
    assert [asked.readings for asked in together] == [asked.readings for asked in alone]
    assert [asked.answer.best for asked in together] == [asked.answer.best for asked in alone]


def test_nothing_is_declined_before_all_was_read(library):
    """The first passage is enough by its margin, but not for this threshold."""
    one = asker(library, *((words, 6.0, 0.0) for words in ("Ada Rook", "Ute Falk", "1920")))
    strict = replace(one, calibration=passing(by_margin(0.9999)))
    (declined,) = strict.ask([BOTH])
    assert (declined.no_answer, declined.passages_read, declined.passages_unread) == (True, 3, 0)
    assert set(declined.timings_ms) == {"retrieve", "read", "weigh"}
    (shown,) = strict.ask([BOTH], threshold=0.0)
    assert (shown.no_answer, shown.passages_read, shown.passages_unread) == (False, 1, 2)


def test_a_selection_and_fewer_hits_than_the_first_part_are_read_whole(library):
    one = asker(library, *SURE, calibration=passing(rule=replace(RULE, first=2)))
    chosen = replace(one, selection=select(library.snapshot, Filter(paths=("mill.md", "sub/weir.html"))))
    (answer,) = chosen.ask([BOTH])
    assert (answer.text, answer.passages_read, answer.passages_unread) == ("Ada Rook", 2, 0)
    assert one.ask([]) == []


def test_a_reader_without_a_null_answer_reads_all(library):
    script = [(words, score, math.nan) for words, score, _ in SURE]
    (answer,) = asker(library, *script, calibration=passing()).ask([BOTH])
    assert (answer.passages_read, answer.passages_unread) == (3, 0)


@pytest.fixture
def sure_library(library, monkeypatch):
    """A library of which every passage is sure of its answer, so that the first is enough."""
    script = [(words, 9.0, 0.0) for words in ("Ada Rook", "Ute Falk", "1920")]
    read_by(library, monkeypatch, *script, calibration=passing())
    return library


def test_the_last_line_tells_what_was_read(sure_library, capsys):
    show_answer(sure_library.ask(BOTH, retriever="bm25"))
    assert ", bm25, best 1 of 3 read; " in capsys.readouterr().out
    show_answer(sure_library.ask(BOTH, retriever="bm25", read_all=True))
    assert ", bm25; " in capsys.readouterr().out


def test_the_command_line_reads_all_when_told(sure_library, folder, run):
    asking = ("ask", BOTH, "--index", folder, "--retriever", "bm25", "--no-cache", "--json")
    read = [json.loads(run(*asking, *more)[1])["searched"] for more in ((), ("--read-all",))]
    assert [(one["passages_read"], one["passages_unread"]) for one in read] == [(1, 2), (3, 0)]


def test_an_explanation_is_of_what_was_read(sure_library):
    explained = sure_library.explain(BOTH, retriever="bm25")
    assert (explained.rank, explained.answer.passages_unread) == (1, 2)
    assert sure_library.explain(BOTH, retriever="bm25", read_all=True).answer.passages_unread == 0


def test_a_document_that_was_left_unread_is_told_so(sure_library):
    order = asker(sure_library).retriever.search([BOTH], 3)[0]
    second = order[1].passage.document_id
    lost = sure_library.why_not(second, BOTH, retriever="bm25", words=WORDS[second])
    assert (lost.stage, lost.advice, lost.read) == ("skipped", "read it with: --read-all", None)
    assert lost.reason == "it was found at rank 2 and left unread: the best 1 were enough"
    assert [sought.rank for sought in lost.sought] == [None]
    read = sure_library.why_not(second, BOTH, retriever="bm25", words=WORDS[second], read_all=True)
    assert (read.stage in ("answer", "alternative"), read.sought[0].rank) == (True, 2)
    first = order[0].passage.document_id
    assert sure_library.why_not(first, BOTH, retriever="bm25").stage == "answer"


def test_what_repeats_an_unread_passage_is_skipped_too(sure_library, folder):
    words = "The brass bell of the weir is rung at noon by the oldest pilot who is awake. " * 3
    for name in ("bell.txt", "copy.txt"):
        (folder / name).write_text(words)
    sure_library.sync(vectors=False)
    lost = sure_library.why_not("copy.txt", "mill mill mill built by the weir", retriever="bm25")
    assert lost.stage == "skipped"
