"""The scan on a device of torch, of which "cpu" is one: near exact scores, in small blocks and streamed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from made_vectors import places
from plain_tokens import PlainTokens, maxsim, token_passages

from spanwise.errors import OutOfMemory, VectorRejected
from spanwise.index.maxsim import token_buckets, torch_maxsim
from spanwise.index.maxsim.scanned_maxsim import ScannedMaxSim
from spanwise.index.maxsim.torch_maxsim import TorchMaxSim, question_batches, stacked
from spanwise.index.maxsim.working_memory import WorkingMemory

PASSAGES = token_passages(300)
STORED = PlainTokens(PASSAGES)
QUESTIONS = token_passages(25, longest=9, seed=1)
STREAMED = 40_000  # bytes: about 30 passages at once
DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(params=[None, STREAMED], ids=["resident", "streamed"])
def max_bytes(request, monkeypatch):
    monkeypatch.setattr(token_buckets, "_CHUNK", 500)
    monkeypatch.setattr(torch_maxsim, "_PRODUCTS", {"cpu": 20_000})
    monkeypatch.setattr(torch_maxsim, "_ROWS", 40)
    return request.param


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    """The score of each question (its row) with each passage."""
    return np.array([[maxsim(question, passage) for passage in STORED.passages] for question in QUESTIONS])


def numbers_of_best(scores: np.ndarray, k: int) -> list[int]:
    """Passages are numbered from 1."""
    return (np.argsort(-scores, kind="stable")[:k] + 1).tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scores_are_as_near_as_the_slack_says(max_bytes, dtype, exact) -> None:
    scan = TorchMaxSim.load(STORED, "cpu", dtype, max_bytes)
    assert scan.is_resident == (max_bytes is None)
    found = scan.nearest(QUESTIONS, 60)
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert np.abs(found.scores - np.take_along_axis(exact, found.rows, axis=1)).max() <= found.slack / 2
    assert found.slack < (1e-3 if dtype == torch.float32 else 0.5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("k", [1, 10, 400])
def test_the_ranking_is_exact_whatever_the_format(max_bytes, dtype, k, exact) -> None:
    stored = STORED
    index = ScannedMaxSim(stored, TorchMaxSim.load(stored, "cpu", dtype, max_bytes), places)
    for scores, ranking in zip(exact, index.search(QUESTIONS, k), strict=True):
        assert ranking.passage_ids.tolist() == numbers_of_best(scores, k)
        assert np.allclose(ranking.scores, scores[ranking.passage_ids - 1], rtol=0, atol=1e-6)


def test_a_search_confined_to_passages_is_exact(max_bytes, exact) -> None:
    stored = STORED
    index = ScannedMaxSim(stored, TorchMaxSim.load(stored, "cpu", torch.float16, max_bytes), places)
    among = np.array([0, 3, 4, 5, *range(100, 300, 9), 999])
    left_out = np.isin(np.arange(1, 301), among, invert=True)
    for scores, ranking in zip(exact, index.search(QUESTIONS, 12, among), strict=True):
        assert ranking.passage_ids.tolist() == numbers_of_best(np.where(left_out, -np.inf, scores), 12)


def test_a_stream_reads_only_what_is_chosen() -> None:
    stored = PlainTokens(PASSAGES)
    scan = TorchMaxSim.load(stored, "cpu", max_bytes=STREAMED)
    chosen = np.zeros(300, np.bool_)
    chosen[[7, 250]] = True
    assert sorted(scan.nearest(QUESTIONS[:1], 2, chosen).rows[0].tolist()) == [7, 250]
    assert sum(stored.reads) == 2


def test_a_batch_scores_like_one_by_one(max_bytes) -> None:
    scan = TorchMaxSim.load(STORED, "cpu", max_bytes=max_bytes)
    together = scan.nearest(QUESTIONS, 300)
    for number, question in enumerate(QUESTIONS):
        alone = scan.nearest([question], 300)
        assert np.allclose(alone.scores[0], together.scores[number], rtol=0, atol=1e-5)


def test_equal_passages_tie_in_the_order_of_their_places() -> None:
    stored = PlainTokens([PASSAGES[5], *PASSAGES[:9], *[PASSAGES[5]] * 200])
    index = ScannedMaxSim(stored, TorchMaxSim.load(stored, "cpu", torch.float16), places)
    (ranking,) = index.search([PASSAGES[5][:3]], 4)
    assert ranking.passage_ids.tolist() == [1, 7, 11, 12]
    assert len(set(ranking.scores.tolist())) == 1


@pytest.mark.parametrize("lengths", [[1], [7, 8, 9], [40, 3, 40, 17]])
def test_filling_is_a_copy_of_the_last_vector(lengths) -> None:
    passages = [each[:m] for each, m in zip(token_passages(60, longest=80, seed=3), lengths, strict=False)]
    stored = PlainTokens(passages)
    part = token_buckets.TokenBuckets.load(stored, np.arange(len(passages)), "cpu", torch.float32)
    for bucket in part.buckets:
        for slot, vectors in enumerate(bucket.vectors.numpy(), bucket.first):
            passage = stored.passages[part.rows[slot]]
            assert np.allclose(vectors[: len(passage)], passage, atol=1e-6)
            assert (vectors[len(passage) :] == vectors[len(passage) - 1]).all()


def test_a_match_may_be_negative() -> None:
    stored = PlainTokens([-QUESTIONS[0][:1]] * 3)
    (ranking,) = ScannedMaxSim.build(stored, places, "cpu").search([QUESTIONS[0][:1]], 5)
    assert np.allclose(ranking.scores, -1, atol=0.01)
    assert ranking.passage_ids.tolist() == [1, 2, 3]


def test_no_questions_and_nothing_chosen_find_nothing() -> None:
    index = ScannedMaxSim.build(PlainTokens(PASSAGES[:3]), places, "cpu")
    assert index.search([], 3) == []
    assert index.search(QUESTIONS[:1], 3, np.array([77]))[0].passage_ids.tolist() == []


def test_a_question_without_rows_is_refused() -> None:
    index = ScannedMaxSim.build(PlainTokens(PASSAGES[:3]), places, "cpu")
    with pytest.raises(VectorRejected, match="question 1 has no vectors"):
        index.search([QUESTIONS[0], QUESTIONS[0][:0]], 3)


def test_batches_hold_questions_of_like_size_and_every_one_once(monkeypatch) -> None:
    monkeypatch.setattr(torch_maxsim, "_ROWS", 20)
    batches = [batch.tolist() for batch in question_batches([3, 30, 4, 10, 9], n_passages=5)]
    assert batches == [[1], [3, 4], [2, 0]]


def test_questions_are_filled_up_with_zeros() -> None:
    padded = stacked([QUESTIONS[0][:1], QUESTIONS[1][:2]])
    assert padded.shape == (2, 2, 16)
    assert (padded[0, 1] == 0).all()


def failing_above(limit: int, done: list[int]):
    def step(first: int, end: int) -> None:
        if end - first > limit:
            raise RuntimeError("CUDA out of memory. Tried to allocate more than there is")
        done.extend(range(first, end))

    return step


def test_steps_are_halved_until_they_fit_and_stay_so() -> None:
    memory, done = WorkingMemory(1000), []
    memory.in_steps(40, 50, failing_above(6, done))
    assert done == list(range(40))
    assert memory.n_bytes == 5 * 50


def test_what_does_not_fit_alone_is_named() -> None:
    with pytest.raises(OutOfMemory, match="50 bytes for one passage"):
        WorkingMemory(1000).in_steps(4, 50, failing_above(0, []))


def test_other_errors_pass_through() -> None:
    def step(first: int, end: int) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        WorkingMemory(10).in_steps(1, 1, step)


def test_a_load_that_runs_out_of_memory_becomes_a_stream(monkeypatch, exact) -> None:
    load = token_buckets.TokenBuckets.load

    def limited(stored, rows, device, dtype):
        if len(rows) > 50:
            raise RuntimeError("CUDA out of memory")
        return load(stored, rows, device, dtype)

    monkeypatch.setattr(token_buckets.TokenBuckets, "load", limited)
    stored = PlainTokens(PASSAGES)
    scan = TorchMaxSim.load(stored, "cpu", max_bytes=10**6)
    assert not scan.is_resident
    (ranking,) = ScannedMaxSim(stored, scan, places).search(QUESTIONS[:1], 5)
    assert ranking.passage_ids.tolist() == numbers_of_best(exact[0], 5)
