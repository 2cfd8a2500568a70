"""Sentences for a question are those that the reader takes to answer it; without one, the most central."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.summarizing.citing import Citer
from spanwise.pipelines.summarizing.extracted import Extractor
from spanwise.pipelines.summarizing.lengths import Length, length_of
from spanwise.types import Passage

TEXT = (
    "# The toll\n\nIt was abolished in 1811. The bridge has three arches of grey stone. | Toll | a farthing |"
)
PASSAGE = Passage(0, "bridge.md", 0, len(TEXT), TEXT)
ONE = Length(1, 60, "one sentence", 100)


class StubReader:
    """Scores sentences by the first of `logits` whose words they hold; otherwise by `rest`."""

    def __init__(self, logits, rest=-4.0):
        self.logits, self.rest, self.asked = logits, rest, []

    def sentence_scores(self, question, passages, sentences):
        self.asked.append(question)
        return [
            [self._logit(passage.text[start:end]) for start, end in places]
            for passage, places in zip(passages, sentences, strict=True)
        ]

    def _logit(self, text):
        return next((logit for words, logit in self.logits.items() if words in text), self.rest)


def chosen(reader, question="When did the toll end?", length=ONE, passages=(PASSAGE,)):
    extractor = Extractor(Analyzer(), lambda: reader, Citer(SimpleNamespace()))
    return [one.text for one in extractor.sentences(question, passages, length)]


def test_the_reader_finds_what_shares_no_word_and_leans_on_the_heading():
    assert chosen(StubReader({"1811": 3.0})) == ["It was abolished in 1811."]


def test_a_row_that_answers_is_chosen_where_nothing_else_does():
    assert chosen(StubReader({"farthing": 4.0}), "How much was the toll?") == ["| Toll | a farthing |"]


@pytest.mark.parametrize("best", [-0.001, math.nan])
def test_where_no_sentence_speaks_for_an_answer_there_is_no_summary(best):
    assert chosen(StubReader({"1811": best}, rest=best)) == []


def test_half_is_enough():
    assert chosen(StubReader({"1811": 0.0})) == ["It was abolished in 1811."]


def test_without_a_question_nothing_is_read():
    reader = StubReader({})
    assert chosen(reader, "", length_of("short")) == ["The bridge has three arches of grey stone."]
    assert reader.asked == []


def test_blocks_that_are_compared_apart_end_in_the_same_limits():
    text = " ".join(f"Sentence number {n} speaks of the toll on bridge {n}." for n in range(700))
    many = [Passage(n, f"{n}.md", 0, len(text), text.replace("toll", f"toll {n}")) for n in range(2)]
    many.append(PASSAGE)
    reader = StubReader({"1811": 5.0})
    assert "It was abolished in 1811." in chosen(reader, length=length_of("short"), passages=many)
    assert len(reader.asked) == 1
