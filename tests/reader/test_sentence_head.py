"""Sentences are scored by the mean of their tokens, and learned beside the span."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_span_model

from spanwise.corpora.sentences import sentence_spans
from spanwise.models.locate import find_base
from spanwise.models.pretrained import load_span_model, load_tokenizer
from spanwise.models.training import Recipe
from spanwise.reader.sentence_scores import SentenceScores
from spanwise.reader.span_reader import SENTENCE_HEAD, SpanReader
from spanwise.reader.spans import TokenSpan
from spanwise.reader.training import (
    ReaderExample,
    ReaderRecipe,
    add_sentence_head,
    fine_tune,
    sentence_loss,
    token_ranges,
    training_rows,
)
from spanwise.reader.windows import Window, WindowLogits
from spanwise.types import Passage

PASSAGE = "It stands by the weir. The mill was built by Ada Rook. It has two wheels. Nobody lives there now."
START = PASSAGE.index("Ada")
GOLD = ReaderExample("a", "Who built the mill?", PASSAGE, START, START + 8, "Mill")
ABSENT = ReaderExample("b", "Who sold the tram?", PASSAGE, None, None, "Mill")
RECIPE = ReaderRecipe(
    loop=Recipe(learning_rate=1e-2, evaluate_at=(1.0,)), epochs=60, batch_tokens=128, sentence_weight=1.0
)


def test_the_loss_is_that_of_a_softmax_over_mean_scores():
    logits = torch.tensor([[0.5, 1.0, 3.0, -1.0], [0.25, 2.0, 0.0, 0.0]])
    ranges = [np.array([[1, 3], [3, 4]], np.int32), np.array([[1, 2]], np.int32)]
    rows = [(0.5, 2.0, -1.0), (0.25, 2.0)]
    expected = [
        -math.log(math.exp(row[i]) / sum(map(math.exp, row))) for row, i in zip(rows, (1, 0), strict=True)
    ]
    loss = sentence_loss(logits, ranges, 0, [0, None])
    assert float(loss) == pytest.approx(sum(expected) / 2, abs=1e-6)


@given(st.text(st.sampled_from("ab. !\n"), max_size=60), st.integers(0, 10), st.integers(0, 30))
def test_every_token_of_a_window_lies_in_one_sentence(text, first, length):
    offsets = np.array([(i, i + 1) for i, one in enumerate(text) if one.strip()], np.int32).reshape(-1, 2)
    first = min(first, len(offsets))
    after = min(first + length, len(offsets))
    ranges = token_ranges(offsets, sentence_spans(text), first, after)
    covered = [token for a, b in ranges for token in range(a, b)]
    assert covered == list(range(after - first))


def test_the_gold_sentence_is_the_one_with_the_answer():
    answered, absent = training_rows([GOLD, ABSENT], load_tokenizer(find_base()), 3, RECIPE, sentence_spans)[
        :2
    ]
    assert (answered.gold_sentence, absent.gold_sentence) == (1, None)
    assert len(answered.sentences) == 4


def trained(tmp_path) -> SpanReader:
    model, tokenizer = load_span_model(tiny_span_model(tmp_path / "model")), load_tokenizer(find_base())
    fine_tune(
        model,
        tokenizer,
        [GOLD, ABSENT],
        RECIPE,
        tmp_path / "run",
        lambda model: {"f1": 0.0},
        split=sentence_spans,
    )
    return SpanReader(model, tokenizer, "trained", split=sentence_spans)


def test_a_trained_head_finds_the_sentence_and_says_when_there_is_none(tmp_path):
    reader = trained(tmp_path)
    passage = Passage(1, "d", 0, len(PASSAGE), PASSAGE)
    [found], [absent] = reader.read([GOLD.question, ABSENT.question], [[passage], [passage]], 8)
    best = max(found, key=lambda span: span.sentence_score)
    assert sentence_spans(PASSAGE)[1][0] <= best.span.start < sentence_spans(PASSAGE)[1][1]
    assert best.sentence_score > 0 > max(span.sentence_score for span in absent)


def test_of_several_windows_the_fullest_scores_a_sentence():
    offsets = np.array([(i, i + 1) for i in range(8)], np.int32)
    logits = [np.full(6, 1.0, np.float32), np.full(4, 5.0, np.float32)]
    places = [Window(0, 0, 6), Window(0, 4, 8)]
    windows = [WindowLogits(w, one, one, 0.0, 0.0, one) for w, one in zip(places, logits, strict=True)]
    scores = SentenceScores([(0, 3), (3, 8)], offsets, windows)
    assert scores.of(TokenSpan(1, 2, 0.0)) == 1.0
    assert scores.of(TokenSpan(5, 5, 0.0)) == 5.0  # of its five tokens the second window holds four
    assert scores.of(TokenSpan(2, 3, 0.0)) == 1.0  # both sentences: six tokens in the first window


def test_without_a_head_or_sentences_there_is_no_score(tmp_path):
    model, tokenizer = load_span_model(tiny_span_model(tmp_path)), load_tokenizer(find_base())
    passage = Passage(1, "d", 0, len(PASSAGE), PASSAGE)
    [[without_head]] = SpanReader(model, tokenizer, "x", split=sentence_spans).read(["Who?"], [[passage]])
    add_sentence_head(model)
    [[without_sentences]] = SpanReader(model, tokenizer, "x").read(["Who?"], [[passage]])
    assert all(math.isnan(span.sentence_score) for span in [*without_head, *without_sentences])


def test_a_model_keeps_the_head_it_has(tmp_path):
    model = load_span_model(tiny_span_model(tmp_path))
    add_sentence_head(model)
    head = getattr(model, SENTENCE_HEAD)
    add_sentence_head(model)
    assert getattr(model, SENTENCE_HEAD) is head
