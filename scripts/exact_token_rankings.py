"""Writes the exact ranking of each question into a folder of `make_token_corpus.py`: the yardstick.

    OMP_NUM_THREADS=2 python scripts/exact_token_rankings.py FOLDER --questions 200

MaxSim of the stored vectors as float32 matrix products: the sum over the rows of a question of the maximum
over the rows of a passage. The best 100 of each question go to exact.npz, as `rows` (questions, 100) and
`scores`; equal scores stand in the order of the passages.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from token_corpus import EXACT, Rows, TokenCorpus

BLOCK = 1024  # tokens compared at once: their similarities stay in the cache


def exact_rankings(corpus: TokenCorpus, queries: Sequence[Rows], k: int) -> tuple[NDArray[np.int64], Rows]:
    """(questions, k) numbers and scores of the best passages."""
    stacked = np.ascontiguousarray(np.concatenate(queries).T)  # (width, rows)
    starts = np.cumsum([0, *map(len, queries[:-1])])
    scores = np.empty((len(corpus.lengths), len(queries)), np.float32)
    for first, last in blocks(corpus.lengths):
        similarities = corpus.part(first, last) @ stacked  # (tokens, rows)
        begins = corpus.starts[first:last] - corpus.starts[first]
        best = np.maximum.reduceat(similarities, begins, axis=0)  # (passages, rows)
        scores[first:last] = np.add.reduceat(best, starts, axis=1)
    rows = np.argsort(-scores, axis=0, kind="stable")[:k].T
    return rows, np.take_along_axis(scores.T, rows, axis=1)


def blocks(lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Runs of passages of about BLOCK tokens."""
    number = np.cumsum(lengths) // BLOCK
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(lengths)]
    return list(pairwise(edges))


def main() -> None:
    """Reads the arguments, computes, writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--k", type=int, default=100)
    options = parser.parse_args()
    corpus = TokenCorpus(options.folder)
    rows, scores = exact_rankings(corpus, corpus.queries[: options.questions], options.k)
    np.savez(options.folder / EXACT, rows=rows, scores=scores)
    gold = np.array([gold for _, gold in corpus.asked[: len(rows)]])
    for k in (1, 20, 100):
        print(f"gold among the best {k}: {(rows[:, :k] == gold[:, None]).any(axis=1).mean():.3f}")


if __name__ == "__main__":
    main()
