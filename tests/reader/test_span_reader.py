"""The reader over a tiny model: spans stay inside passages, batches change nothing."""

import math
from itertools import pairwise

import pytest
import torch
from helpers.tiny_models import tiny_span_model
from hypothesis import given, settings, strategies as st

from spanwise.models.batching import Batcher
from spanwise.reader.load import load_reader
from spanwise.reader.span_reader import SpanReader, cut
from spanwise.reader.spans import MAX_CONTEXT_TOKENS, MAX_QUESTION_TOKENS, Input, tokenize
from spanwise.types import Passage, Span


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> SpanReader:
    return load_reader(str(tiny_span_model(tmp_path_factory.mktemp("tiny"))))


def passage(text: str, start: int = 0) -> Passage:
    return Passage(1, "d.txt", start, start + len(text), text)


@settings(max_examples=30)
@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=120), st.integers(0, 1000))
def test_spans_are_quotes_of_their_passage(reader, text, start):
    [[spans]] = reader.read(["where?"], [[passage(text, start)]])
    for scored in spans:
        assert text[scored.span.start - start : scored.span.end - start] == scored.span.text


def test_a_span_includes_the_combining_marks_after_it(reader):
    text = "cafe\u0301"
    [[spans]] = reader.read(["what?"], [[passage(text)]])
    assert spans[0].span.text == text


def test_a_batch_gives_the_spans_of_single_questions(reader, float32):
    texts = ["The mill stands by the weir. " * n for n in (1, 7, 30, 2)]
    [together] = reader.read(["Where is the mill?"], [[passage(t) for t in texts]])
    for text, spans in zip(texts, together, strict=True):
        [[alone]] = reader.read(["Where is the mill?"], [[passage(text)]])
        assert [s.score for s in spans] == pytest.approx([s.score for s in alone], abs=1e-5)
        assert [s.null_score for s in spans] == pytest.approx(
            [s.null_score for s in alone], abs=1e-5, nan_ok=True
        )


@pytest.mark.promise("T16")
@pytest.mark.parametrize("fits", [1, 2, 7, 64])
def test_out_of_memory_changes_no_score_and_no_order(reader, float32, monkeypatch, fits):
    passages = [[passage("The mill stands by the weir. " * (n % 7) + f"Row {n}.") for n in range(90)]]
    [expected] = reader.read(["Where is the mill?"], passages)
    forward = reader._forward

    def limited(pairs, batch):
        if len(batch) > fits:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(pairs, batch)

    monkeypatch.setattr(reader, "_forward", limited)
    monkeypatch.setattr(reader, "batcher", Batcher(4096))
    [limited_spans] = reader.read(["Where is the mill?"], passages)
    assert [[s.span for s in spans] for spans in limited_spans] == [
        [s.span for s in spans] for spans in expected
    ]
    scores = [[s.score for spans in by_passage for s in spans] for by_passage in (limited_spans, expected)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)


@settings(max_examples=20)
@given(st.integers(1, 200), st.integers(0, 80), st.text(max_size=40), st.integers(0, 99))
def test_every_token_of_a_passage_is_in_a_window_with_any_question(reader, asked, above, text, times):
    asked, above, text = tokenize(reader.tokenizer, ["why " * asked, "head. " * above, text * times])
    question = cut(asked, MAX_QUESTION_TOKENS)
    context = cut(above, MAX_CONTEXT_TOKENS)
    [windows] = reader.logits([Input(question, context, text)])
    seen = {i for logits in windows for i in range(logits.window.first, logits.window.last)}
    assert seen == set(range(len(text.ids)))
    for logits in windows:
        assert len(logits.start) == len(logits.end) == logits.window.last - logits.window.first


def test_n_best_is_sorted_and_distinct(reader):
    [[spans]] = reader.read(["what?"], [[passage("one two three four five six")]], n_best=8)
    assert [s.score for s in spans] == sorted((s.score for s in spans), reverse=True)
    places = sorted((s.span.start, s.span.end) for s in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(places))


def test_headings_are_read_and_never_quoted(reader):
    bare = passage("one two")
    headed = Passage(1, "d.txt", 0, 7, "one two", heading=("Ada Rook", "Mills"))
    [[without], [with_headings]] = reader.read(["who?", "who?"], [[bare], [headed]], n_best=9)
    assert {s.span for s in with_headings} <= {
        Span("d.txt", 0, 3, "one"),
        Span("d.txt", 4, 7, "two"),
        Span("d.txt", 0, 7, "one two"),
    }
    assert with_headings[0].score != without[0].score


def test_sentences_are_scored_by_a_model_that_was_trained_to(reader, float32):
    text = "The weir has two gates. The mill burned in 1871. It was built again."
    places = [(0, 23), (24, 48), (49, 68)]
    text_passage = passage(text)
    assert all(math.isnan(score) for score in reader.sentence_scores("Who?", [text_passage], [places])[0])
    builtin = load_reader("builtin")
    asked = "In which year did the mill burn down?"
    [first, empty] = builtin.sentence_scores(asked, [text_passage, text_passage], [places, []])
    assert first.index(max(first)) == 1
    assert empty == []
    assert first[1] > max(0.0, first[0])
    [alone] = builtin.sentence_scores(asked, [text_passage], [places[1:2]])
    assert alone == pytest.approx(first[1:2], abs=1e-5)
    assert builtin.sentence_scores(asked, [], []) == []
