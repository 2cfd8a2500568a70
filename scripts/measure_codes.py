"""What the codes of token vectors, and pooling them, cost in ranking: overlap with exact float32 MaxSim.

    OMP_NUM_THREADS=2 python scripts/measure_codes.py FOLDER --passages 3000

FOLDER is one of `make_token_corpus.py`. Everything is compared with everything, so nothing but the codes
plays a part. Prints a Markdown table; speeds are tokens in a second of the processor's time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from exact_token_rankings import exact_rankings
from numpy.typing import NDArray
from token_corpus import Rows, TokenCorpus

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.maxsim.pooling import pool

SAMPLED = 2_048  # passages that a codebook is trained on
TOGETHER = 256  # passages


@dataclass
class Changed:
    """A collection whose vectors are other ones than the model gave; `seconds` it took to change them."""

    rows: Rows
    lengths: NDArray[np.int64]
    bytes_a_token: float
    seconds: float
    starts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Find where passages begin."""
        self.starts = np.concatenate(([0], np.cumsum(self.lengths)))

    def part(self, first: int, last: int) -> Rows:
        """The vectors of the passages first..last."""
        return self.rows[self.starts[first] : self.starts[last]]


def blocks(corpus: TokenCorpus) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
    """The unit vectors of the passages, some passages at a time, and how many each has."""
    for first in range(0, len(corpus.lengths), TOGETHER):
        last = min(first + TOGETHER, len(corpus.lengths))
        rows = corpus.part(first, last)
        yield rows / np.linalg.norm(rows, axis=1, keepdims=True), corpus.lengths[first:last]


def coded(corpus: TokenCorpus, bits: int) -> Changed:
    """The vectors as they are decoded from codes."""
    random = np.random.default_rng(0)
    n = len(corpus.lengths)
    chosen = np.sort(random.choice(n, min(SAMPLED, n), replace=False)).tolist()
    sample = np.concatenate([corpus.part(number, number + 1) for number in chosen])
    codebook = Codebook.train(sample, int(corpus.starts[-1]), bits)
    codebook.encode(sample[:1000])  # compiled before the clock runs
    found, size, began = [], 0, time.process_time()
    for rows, _ in blocks(corpus):
        codes = codebook.encode(rows)
        size += codes.nbytes
        found.append(codebook.decode(codes))
    seconds = time.process_time() - began
    return Changed(np.concatenate(found), corpus.lengths, size / int(corpus.starts[-1]), seconds)


def pooled(corpus: TokenCorpus, factor: int) -> Changed:
    """Fewer vectors in float32; the bytes are those of the tokens there were."""
    began = time.process_time()
    parts = [pool(rows, lengths, factor) for rows, lengths in blocks(corpus)]
    seconds = time.process_time() - began
    rows, lengths = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Changed(rows, lengths, rows.nbytes / int(corpus.starts[-1]), seconds)


def line(name: str, corpus: TokenCorpus, changed: Changed, exact: Any, questions: int) -> str:
    """One row of the table."""
    queries = corpus.queries[:questions]
    ranked: Any = changed
    found = exact_rankings(ranked, queries, 100)[0]
    shares = [
        np.mean([len(np.intersect1d(a[:k], b[:k])) / k for a, b in zip(found, exact, strict=True)])
        for k in (10, 100)
    ]
    golds = [gold for _, gold in corpus.asked[:questions]]
    at_one = np.mean([gold == rows[0] for gold, rows in zip(golds, found, strict=True)])
    speed = int(corpus.starts[-1]) / changed.seconds
    return (
        f"| {name} | {changed.bytes_a_token:.0f} | {shares[0]:.3f} | {shares[1]:.3f} | {at_one:.3f} "
        f"| {speed:,.0f} |"
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, help="only so many, the first ones")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--bits", type=int, nargs="*", default=[2, 4, 8])
    parser.add_argument("--pool", type=int, nargs="*", default=[2, 3])
    options = parser.parse_args()
    corpus = TokenCorpus(options.folder, options.passages)
    exact = exact_rankings(corpus, corpus.queries[: options.questions], 100)[0]
    print("| | bytes a token | overlap@10 | overlap@100 | gold@1 | tokens/s |\n|---|---|---|---|---|---|")
    for bits in options.bits:
        changed = coded(corpus, bits)
        print(line(f"{bits} bits", corpus, changed, exact, options.questions), flush=True)
    for factor in options.pool:
        changed = pooled(corpus, factor)
        print(line(f"float32, pooled by {factor}", corpus, changed, exact, options.questions), flush=True)


if __name__ == "__main__":
    main()
