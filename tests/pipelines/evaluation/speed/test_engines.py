"""Every registered engine finds the paragraph that answers; what is not installed is skipped by name."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from numpy.random import default_rng

from spanwise.pipelines.evaluation.speed.registry import all_entrants
from spanwise.pipelines.evaluation.speed.tokens import Tokens

LOAD_A_MODEL = {"dense-encode", "dense-index", "dense-search", "maxsim-encode", "maxsim-search"}


def unit_rows(shape):
    rows = default_rng(0).normal(size=shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def mark(one):
    compiles = "numba" in one.needs
    slow = [pytest.mark.reliability] if compiles or LOAD_A_MODEL & {*one.comparisons} else []
    return pytest.param(one, id=f"{one.name}: {one.comparisons[0]}", marks=slow)


@pytest.mark.filterwarnings("default")  # another's library may warn
@pytest.mark.parametrize("one", [mark(one) for one in all_entrants()])
def test_it_finds_the_paragraph_that_answers(one, corpus, tmp_path):
    if one.missing:
        pytest.skip(f"not installed: {', '.join(one.missing)}")
    vectors = with_vectors(corpus, one)
    engine = getattr(import_module(one.module), one.class_name)()
    engine.prepare(vectors, tmp_path)
    engine.build(vectors.beginning(2))
    engine.build(vectors)
    asked = 1 if "first-search" in one.comparisons else 3
    for question, gold in zip(vectors.questions[:asked], vectors.gold[:asked], strict=True):
        found = list(engine.search(question, 10))
        assert vectors.passages[found[0]].paragraph == gold
        assert len(found) == len(set(found)) <= 3


def with_vectors(corpus, one):
    """The vectors of the models for who encodes questions, made ones for who is given them."""
    if "dense-search" in one.comparisons:
        from spanwise.pipelines.evaluation.speed.vectors import with_vectors

        return with_vectors(corpus, lambda *progress: None)
    if "maxsim-search" in one.comparisons:
        from spanwise.pipelines.evaluation.speed.vectors import with_tokens

        return with_tokens(corpus, lambda *progress: None)
    rows = unit_rows((3, 8))
    made = {"vectors": rows, "question_vectors": rows[list(corpus.gold)]}
    return replace(corpus, **made, tokens=made_tokens(corpus.gold))


def made_tokens(gold):
    """Passages of 2, 3 and 4 tokens; a question has the last two of its passage."""
    rows = unit_rows((9, 8))
    passages = rows[:2], rows[2:5], rows[5:]
    questions = np.concatenate([passages[number][-2:] for number in gold])
    return Tokens(rows, np.array([2, 3, 4]), questions, np.array([2, 2, 2]))
