"""The corpus: the same for all, drawn by a seed, whole after its way through a folder."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from spanwise.pipelines.evaluation.speed.corpus import Corpus, corpus_of
from spanwise.pipelines.evaluation.speed.data import read_paragraphs
from spanwise.pipelines.evaluation.speed.tokens import Tokens


def test_it_comes_back_as_it_was_saved(corpus, tmp_path):
    corpus.save(tmp_path)
    loaded = Corpus.load(tmp_path)
    for name in ("paragraphs", "passages", "questions", "gold", "vectors"):
        assert getattr(loaded, name) == getattr(corpus, name)


def test_its_beginning_has_the_beginning_of_the_vectors(corpus):
    first = Corpus(corpus.paragraphs, corpus.passages, (), (), np.eye(3, dtype=np.float32)).beginning(2)
    assert (len(first.paragraphs), len(first.passages), first.given_vectors.shape) == (2, 2, (2, 3))


@pytest.fixture
def with_tokens(corpus):
    rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    return replace(corpus, tokens=Tokens(rows, np.array([1, 2, 3]), rows[:4], np.array([2, 1, 1])))


def test_tokens_come_back_as_they_were_saved(with_tokens, tmp_path):
    with_tokens.save(tmp_path)
    loaded = Corpus.load(tmp_path).given_tokens
    assert [rows.tolist() for rows in loaded.passages] == [
        [[0, 1]],
        [[2, 3], [4, 5]],
        [[6, 7], [8, 9], [10, 11]],
    ]
    assert loaded.of_questions(with_tokens.questions)[with_tokens.questions[1]].tolist() == [[4, 5]]


def test_its_beginning_has_the_beginning_of_the_tokens(with_tokens):
    first = with_tokens.beginning(2).given_tokens
    assert (len(first.rows), first.lengths.tolist(), len(first.question_rows)) == (3, [1, 2], 4)


def test_tokens_that_were_not_given_are_named(corpus):
    with pytest.raises(ValueError, match="no vectors"):
        _ = corpus.given_tokens


def test_vectors_that_were_not_given_are_named(corpus):
    with pytest.raises(ValueError, match="no vectors"):
        corpus.vector_of_question()


def test_gold_is_the_paragraph_of_the_question(corpus):
    for question, gold in zip(corpus.questions, corpus.gold, strict=True):
        assert question.rstrip("?").split()[-1] in corpus.paragraphs[gold]


def test_a_corpus_without_questions_is_refused():
    with pytest.raises(ValueError, match="take more"):
        corpus_of([("A paragraph.", ())], 10, seed=0)


def test_long_paragraphs_are_split_as_the_index_splits_them():
    long = corpus_of([("The mill stands by the weir. " * 60, ("What stands?",))], 1, seed=0)
    assert len(long.passages) > 1
    assert all(p.text == long.paragraphs[0][p.start : p.start + len(p.text)] for p in long.passages)


def test_equal_paragraphs_are_one_and_keep_their_questions(tmp_path):
    paragraph = {"context": "The mill.", "qas": []}
    answers = [{"text": "mill", "answer_start": 4}]
    for i, name in enumerate("ab"):
        asked = {**paragraph, "qas": [{"id": name, "question": f"What {i}?", "answers": answers}]}
        record = {"version": "1.1", "data": [{"title": name, "paragraphs": [asked]}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    read = read_paragraphs([tmp_path / "a.json", tmp_path / "b.json"], seed=0)
    assert read.asked == (("The mill.", ("What 0?", "What 1?")),)
    assert read.source == "a.json, b.json"


def test_without_data_the_sample_is_used_and_named(monkeypatch):
    monkeypatch.delenv("SPANWISE_DATA", raising=False)
    assert read_paragraphs([], seed=0).source == "the bundled sample"
    assert read_paragraphs([], seed=0) == read_paragraphs([], seed=0) != read_paragraphs([], seed=1)
