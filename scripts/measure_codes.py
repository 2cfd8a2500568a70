"""What the codes of token vectors cost in ranking: overlap with exact float32 MaxSim, bytes a token, speed.

    python scripts/measure_codes.py FOLDER

FOLDER holds d.npy (T, width) vectors of passages one after another, dl.npy (n,) their lengths, and q.npy and
ql.npy the same of questions. Prints a Markdown table. Memory: one passage block at a time, and the scores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.maxsim.token_codes import TokenCodes

SAMPLE = 2**18
BLOCK = 50_000  # tokens, at least one passage

Rows = Callable[[int, int], NDArray[np.float32]]


def scores(
    rows: Rows, lengths: NDArray[np.int64], questions: list[NDArray[np.float32]]
) -> NDArray[np.float32]:
    """(n, Q) float32: the sum over a question's rows of the maximum over the passage's rows."""
    stacked = torch.from_numpy(np.concatenate(questions))
    starts = np.cumsum([0] + [len(question) for question in questions[:-1]])
    ends = np.cumsum(lengths)
    found, first = [], 0
    while first < len(lengths):
        begin = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, begin + BLOCK)))
        products = torch.from_numpy(rows(begin, int(ends[last - 1]))) @ stacked.T
        maxima = torch.segment_reduce(products, "max", lengths=torch.from_numpy(lengths[first:last]), axis=0)
        found.append(np.add.reduceat(maxima.numpy(), starts, axis=1))
        first = last
    return np.concatenate(found)


def best(table: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """(k, Q) the rows of the highest scores, ties by row."""
    return np.argsort(-table, axis=0, kind="stable")[:k]


def overlap(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The mean share of rows that two (k, Q) lists have in common."""
    shares = [len(np.intersect1d(a, b)) / len(a) for a, b in zip(one.T, other.T, strict=True)]
    return float(np.mean(shares))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--bits", type=int, nargs="*", default=[2, 4, 8])
    options = parser.parse_args()
    vectors = np.load(options.folder / "d.npy", mmap_mode="r")
    lengths = np.load(options.folder / "dl.npy").astype(np.int64)
    ends = np.cumsum(np.load(options.folder / "ql.npy"))[: options.questions]
    questions = np.split(np.load(options.folder / "q.npy")[: ends[-1]].astype(np.float32), ends[:-1])

    def unit(start: int, end: int) -> NDArray[np.float32]:
        rows = vectors[start:end].astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    exact = scores(unit, lengths, questions)
    random = np.random.default_rng(0)
    chosen = np.sort(random.choice(len(vectors), min(SAMPLE, len(vectors)), replace=False))
    sample = vectors[chosen].astype(np.float32)
    sample /= np.linalg.norm(sample, axis=1, keepdims=True)
    print("| bits | centroids | bytes a token | overlap @10 | @100 | training s | encode tokens/s | decode |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for bits in options.bits:
        print(measured(bits, sample, unit, lengths, questions, exact), flush=True)


def measured(
    bits: int,
    sample: NDArray[np.float32],
    unit: Rows,
    lengths: NDArray[np.int64],
    questions: list[NDArray[np.float32]],
    exact: NDArray[np.float32],
) -> str:
    """One row of the table; the speeds are tokens in a second of the processor's time."""
    total, began = int(lengths.sum()), time.process_time()
    codebook = Codebook.train(sample, total, bits)
    training, seconds, size = time.process_time() - began, {"encode": 0.0, "decode": 0.0}, 0
    codebook.encode(sample[:1000])  # compiled before the clock runs

    def coded(start: int, end: int) -> NDArray[np.float32]:
        nonlocal size
        rows = unit(start, end)
        t0 = time.process_time()
        codes: TokenCodes = codebook.encode(rows)
        t1 = time.process_time()
        decoded = codebook.decode(codes)
        seconds["encode"] += t1 - t0
        seconds["decode"] += time.process_time() - t1
        size += codes.nbytes
        return decoded

    table = scores(coded, lengths, questions)
    at = [overlap(best(table, k), best(exact, k)) for k in (10, 100)]
    speeds = " | ".join(f"{total / spent:,.0f}" for spent in seconds.values())
    return (
        f"| {bits} | {len(codebook.centroids):,} | {size / total:.0f} | {at[0]:.4f} | {at[1]:.4f} "
        f"| {training:.0f} | {speeds} |"
    )


if __name__ == "__main__":
    main()
