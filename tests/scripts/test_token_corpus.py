"""The collection of the measurements: made alike each time, resumed where it stopped, ranked exactly."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PARAGRAPHS = [" ".join(f"w{number}-{i}" for i in range(90)) for number in range(5)]


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])


class Encoder:
    """As many rows as a text has words, each of them (1, 0)."""

    def __init__(self, most=100):
        self.most = most

    def encode_passages(self, texts):
        if len(texts) > self.most:
            raise KeyboardInterrupt
        lengths = np.array([len(text.split()) for text in texts])
        return np.tile(np.float32([1, 0]), (lengths.sum(), 1)), lengths


def test_made_up_passages_are_the_same_for_a_seed_and_of_the_right_length():
    from made_up_passages import LONGEST, SHORTEST, made_up_passages

    first, second = (list(made_up_passages(PARAGRAPHS, 20, 0)) for _ in range(2))
    assert first == second != list(made_up_passages(PARAGRAPHS, 20, 1))
    assert all(SHORTEST <= len(text.split()) <= LONGEST for text in first)


def test_new_terms_differ():
    from made_up_passages import new_term

    assert len({new_term(rank) for rank in range(0, 400_000, 7)}) == len(range(0, 400_000, 7))


def test_an_interrupted_folder_is_finished(tmp_path, monkeypatch):
    import make_token_corpus as script
    from token_corpus import TokenCorpus

    monkeypatch.setattr(script, "BLOCK", 2)
    texts = ["a b", "c", "d e f", "g"]
    script.write_lines(tmp_path / script.TEXTS, texts[:2])
    script.write_tokens(tmp_path, Encoder())
    script.append(tmp_path / script.TOKENS, 3, np.zeros((5, 2), np.float32))  # written, but not counted
    script.write_lines(tmp_path / script.TEXTS, texts)
    script.write_tokens(tmp_path, Encoder(most=2))
    corpus = TokenCorpus(tmp_path)
    assert corpus.lengths.tolist() == [2, 1, 3, 1]
    assert corpus.tokens.tolist() == [[1, 0]] * 7
    assert corpus.texts == texts


def test_exact_rankings_are_those_of_the_definition(tmp_path, monkeypatch):
    import exact_token_rankings as script
    from token_corpus import TokenCorpus

    monkeypatch.setattr(script, "BLOCK", 4)
    random = np.random.default_rng(0)
    np.save(tmp_path / "lengths.npy", np.array([2, 3, 1, 5]))
    np.save(tmp_path / "tokens.npy", random.standard_normal((11, 4)).astype(np.float16))
    corpus = TokenCorpus(tmp_path)
    queries = [random.standard_normal((m, 4)).astype(np.float32) for m in (1, 3)]
    rows, scores = script.exact_rankings(corpus, queries, 3)
    for query, found, score in zip(queries, rows, scores, strict=True):
        wanted = [(corpus.part(i, i + 1) @ query.T).max(axis=0).sum() for i in range(4)]
        assert found.tolist() == np.argsort(np.negative(wanted))[:3].tolist()
        assert np.allclose(score, sorted(wanted, reverse=True)[:3], atol=1e-5)


def test_a_part_has_the_questions_that_it_answers(tmp_path):
    from token_corpus import TokenCorpus

    np.save(tmp_path / "lengths.npy", np.array([1, 1]))
    np.save(tmp_path / "questions.npy", np.float32([[1], [2], [3]]))
    np.save(tmp_path / "question_lengths.npy", np.array([1, 2]))
    asked = [{"text": "a", "gold": 1}, {"text": "b", "gold": 0}]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    part = TokenCorpus(tmp_path, 1)
    assert part.asked == [("b", 0)]
    assert [rows.tolist() for rows in part.queries] == [[[2], [3]]]
