"""Token vectors held in memory as if they lay in segments, and MaxSim over them as the definition says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.maxsim.stored_tokens import StoredTokens
from spanwise.index.maxsim.tokens import TokenSegment, sums

Vectors = NDArray[np.float32]


def unit(vectors: Vectors) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def clustered(seed: int, n_passages: int, width: int = 32, n_topics: int = 40) -> list[Vectors]:
    """Passages of 1 to 30 unit rows, each near one of a few directions that its passage prefers."""
    random = np.random.default_rng(seed)
    topics = unit(random.standard_normal((n_topics, width)))
    passages = []
    for length in random.integers(1, 31, n_passages):
        preferred = random.integers(0, n_topics, 4)
        rows = topics[random.choice(preferred, length)]
        passages.append(unit(rows + 0.5 * random.standard_normal((length, width)) / width**0.5))
    return passages


def asked(seed: int, passages: Sequence[Vectors], n: int, n_rows: int = 8) -> list[Vectors]:
    """Questions of unit rows near rows of some passage."""
    random = np.random.default_rng(seed)
    questions = []
    for _ in range(n):
        passage = passages[random.integers(len(passages))]
        rows = passage[random.integers(len(passage), size=n_rows)]
        questions.append(unit(rows + 0.3 * random.standard_normal(rows.shape) / rows.shape[1] ** 0.5))
    return questions


def stored(
    codebook: Codebook, segments: Sequence[Sequence[Vectors]], deleted: Sequence[int] = ()
) -> StoredTokens:
    """The passages of these segments, numbered from 0 on, without those deleted."""
    made, first = [], 0
    for passages in segments:
        codes = codebook.encode(np.concatenate(passages))
        ends = np.cumsum([len(rows) for rows in passages])
        columns = {
            "passage_ids": np.arange(first, first + len(passages)),
            "ends": ends,
            "centroids": codes.centroids,
            "values": codes.values,
            "scales": codes.scales,
            "sums": sums(codes, np.append(0, ends[:-1]), ends),
        }
        for column in columns.values():
            column.flags.writeable = False  # as a mapped file
        segment = SimpleNamespace(
            columns=columns, model="m", path=Path("segment"), check=lambda *_: None, release=lambda: None
        )
        made.append(TokenSegment(segment))
        first += len(passages)
    return StoredTokens(made, np.array(sorted(deleted), np.int64), codebook)


def trained(segments: Sequence[Sequence[Vectors]], bits: int) -> Codebook:
    sample = np.concatenate([rows for passages in segments for rows in passages])
    return Codebook.train(sample, len(sample), bits)


def maxsim_scores(tokens: StoredTokens, question: Vectors) -> NDArray[np.float64]:
    """(n,) the score of each row of the stored tokens, from its decoded vectors, in float64."""
    scores = [
        (rows.astype(np.float64) @ question.T.astype(np.float64)).max(axis=0).sum()
        for rows in tokens.decoded(tokens.passage_ids)
    ]
    return np.array(scores)


def places(passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
    """Places that ascend with the ids."""
    return [("document", passage_id, passage_id + 1) for passage_id in passage_ids]
