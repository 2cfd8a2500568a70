"""The comparison of teachers: who prefers the passage that holds the answer, in which wording."""

from types import SimpleNamespace
from unittest.mock import ANY

import numpy as np
import pytest

from benchmarks import teachers
from benchmarks.teachers import RankedQuestion, add_relevance, add_similarity, figures, left_out_fit
from spanwise.types import Passage

PASSAGES = [Passage(n, "d", 0, len(text), text) for n, text in enumerate(("A weir.", "A mill by Rook."))]


def ranked(domain, right, rank, relevance, everyday=False):
    question = RankedQuestion(domain, "Who built the mill?", everyday, PASSAGES, np.array(right))
    question.scores["rank"] = np.array(rank, dtype=float)
    question.scores["r"] = np.array(relevance, dtype=float)
    return question


QUESTIONS = [
    ranked("a", [True, False], [1, 0], [0, 3]),
    ranked("a", [False, True], [1, 0], [0, 3], everyday=True),
    ranked("b", [False, True], [1, 0], [0, 3]),
    ranked("b", [False, False], [1, 0], [0, 3]),
]


def test_shares_are_of_the_questions_whose_passage_was_found():
    table = figures(QUESTIONS, ["r"], [])
    assert table["plain"] == {"questions": 3, "found": 2, "rank": 0.5, "r": 0.5, "rank + r": ANY}
    assert table["everyday"] == {"questions": 1, "found": 1, "rank": 0, "r": 1, "rank + r": ANY}


def test_a_fit_is_judged_on_the_folder_that_it_has_not_seen():
    first = [ranked("a", [False, True], [1, 0], [0, 3]) for _ in range(3)]
    second = [ranked("b", [True, False], [1, 0], [0, 3]) for _ in range(3)]
    assert left_out_fit([*first, *second], ["rank", "r"]) == [False] * 6


def test_an_encoder_prefers_the_passage_with_the_words_of_the_question():
    add_similarity(QUESTIONS, "base", "s")
    assert [int(np.argmax(question.scores["s"])) for question in QUESTIONS] == [1] * 4
    assert max(QUESTIONS[0].scores["s"]) <= 20


def test_a_reader_without_relevance_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(teachers, "load_reader", lambda name: SimpleNamespace(digest=name))
    monkeypatch.setattr(teachers, "label_pairs", lambda *arguments: None)
    with pytest.raises(ValueError, match="silent gives no relevance"):
        add_relevance(QUESTIONS, "silent", "n", tmp_path)
