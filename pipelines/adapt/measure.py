"""How well a model of tokens ranks all passages of an index for questions whose answers are known.

Vectors are as the model gives them, none is stored: both models are measured alike, whatever the index holds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.types import ProgressCallback, no_progress

from ...eval.reciprocal_rank import reciprocal_rank
from ...eval.significance.comparison import Comparison, compare
from ...eval.significance.pairing import Asked, Scored, pair
from ...index.rows import indexed_text
from ...index.snapshot import Snapshot
from ...retrieval.protocol import TokenEncoder
from .made_question import MadeQuestion

RECALL, MRR = "recall@1", "mrr@10"
MOST_PASSAGES = 30_000  # that are searched; of a larger index those that answer, and others by chance
_ENCODED = 256  # passages at once
_COMPARED = 32  # of these, with all questions

Measured = Mapping[str, Mapping[str, float]]


def measured_passages(snapshot: Snapshot, questions: Sequence[MadeQuestion], seed: int = 0) -> list[int]:
    """The ids of the passages that are searched, by document and place."""
    ids: list[int] = snapshot.passage_ids().tolist()
    if len(ids) <= MOST_PASSAGES:
        return ids
    answering = {number for one in questions for number in one.passage_ids}
    others = [number for number in ids if number not in answering]
    drawn = random.Random(seed).sample(others, max(0, MOST_PASSAGES - len(answering)))
    searched = answering.union(drawn)
    return [number for number in ids if number in searched]


def measure(
    encoder: TokenEncoder,
    questions: Sequence[MadeQuestion],
    snapshot: Snapshot,
    passage_ids: Sequence[int],
    report: ProgressCallback = no_progress,
) -> Measured:
    """For each question, by its place in the list, `recall@1` and `mrr@10`; any passage that answers counts.

    Passages with equal scores rank in the order of `passage_ids`.
    """
    scores = _scores(encoder, [one.text for one in questions], snapshot, passage_ids, report)
    found: dict[str, dict[str, float]] = {RECALL: {}, MRR: {}}
    for name, question, row in zip(_names(questions), questions, scores, strict=True):
        best = np.argsort(-row, kind="stable")[:10]
        ranking = [passage_ids[i] for i in best]
        found[RECALL][name] = reciprocal_rank(ranking, question.passage_ids, k=1)
        found[MRR][name] = reciprocal_rank(ranking, question.passage_ids, k=10)
    return found


def compared(before: Measured, after: Measured, questions: Sequence[MadeQuestion]) -> list[Comparison]:
    """The comparison by each measure, mrr@10 first: that one decides."""
    asked = {name: Asked(one.text) for name, one in zip(_names(questions), questions, strict=True)}
    both = pair(Scored("before", before, asked), Scored("after", after, asked))
    return compare([(both, MRR), (both, RECALL)])


def _names(questions: Sequence[MadeQuestion]) -> list[str]:
    return [f"{number:06}" for number in range(len(questions))]


def _scores(
    encoder: TokenEncoder,
    texts: Sequence[str],
    snapshot: Snapshot,
    passage_ids: Sequence[int],
    report: ProgressCallback,
) -> NDArray[np.float32]:
    """(questions, passages): the MaxSim of each with each."""
    queries = encoder.encode_questions(texts)
    rows = np.concatenate(queries)  # (R, width)
    starts = _starts([len(one) for one in queries])
    scores = np.empty((len(texts), len(passage_ids)), np.float32)
    for at, vectors, lengths in _encoded(encoder, snapshot, passage_ids, report):
        similar = vectors @ rows.T  # (T, R)
        best = np.maximum.reduceat(similar, _starts(lengths), axis=0)  # (n, R)
        scores[:, at : at + len(lengths)] = np.add.reduceat(best, starts, axis=1).T  # (Q, n)
    return scores


def _encoded(
    encoder: TokenEncoder, snapshot: Snapshot, passage_ids: Sequence[int], report: ProgressCallback
) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.int64]]]:
    """A few passages at a time: the place of the first, their vectors, and how many each has."""
    for at in range(0, len(passage_ids), _ENCODED):
        batch = snapshot.passages(passage_ids[at : at + _ENCODED])
        vectors, lengths = encoder.encode_passages([indexed_text(one) for one in batch])
        ends = np.cumsum(lengths)
        for first in range(0, len(batch), _COMPARED):
            last = min(first + _COMPARED, len(batch))
            begin = int(ends[first - 1]) if first else 0
            yield at + first, vectors[begin : int(ends[last - 1])], lengths[first:last]
        report("measured", at + len(batch), len(passage_ids))


def _starts(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    counted = np.asarray(lengths, np.int64)
    return np.cumsum(counted) - counted
