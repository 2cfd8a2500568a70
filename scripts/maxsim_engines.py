"""The programs that `compare_maxsim.py` compares: each takes token vectors and ranks passages by MaxSim.

Their libraries are imported in `build`, since each runs in a Python of its own that may have no other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from token_corpus import Rows, TokenCorpus


@dataclass(frozen=True, slots=True)
class Built:
    """The bytes that a token takes, on disk or in memory; `seconds`, when it was made before this process."""

    bytes_a_token: float
    seconds: float | None = None


class Engine(Protocol):
    """One program."""

    def build(self, corpus: TokenCorpus, folder: Path) -> Built:
        """Make the passages searchable from nothing."""

    def search(self, query: Rows, k: int) -> list[int]:
        """The numbers of the best k passages, best first."""


class Spanwise:
    """Ours through its store; made in `folder`, unless an earlier run has left it there."""

    def __init__(self, bits: int, exact: bool) -> None:
        self.bits, self.exact = bits, exact

    def build(self, corpus: TokenCorpus, folder: Path) -> Built:
        """Encode, commit and open; the bytes are those of the files of codes."""
        from token_store import MODEL, created, token_bytes

        from spanwise.index import Store

        path = folder / f"spanwise-{self.bits}-{len(corpus.lengths)}"
        seconds = created(path, corpus, self.bits)
        self.store = Store.open(path)
        self.snapshot = self.store.snapshot()
        self.index: Any = self.snapshot.maxsim(MODEL, exact=self.exact)
        ids = self.snapshot.passage_ids()  # ordered as the corpus is
        self.number_of = dict(zip(ids.tolist(), range(len(ids)), strict=True))
        return Built(token_bytes(path) / len(corpus.tokens), seconds)

    def search(self, query: Rows, k: int) -> list[int]:
        """The numbers of the passages found."""
        found = self.index.search([query], k)[0]
        return [self.number_of[passage_id] for passage_id in found.passage_ids.tolist()]


class Torch:
    """float32 vectors in memory: one matrix product, then the maximum of each passage's rows."""

    def build(self, corpus: TokenCorpus, folder: Path) -> Built:
        """Copy the vectors into memory."""
        self.torch = import_module("torch")
        self.tokens = self.torch.from_numpy(corpus.part(0, len(corpus.lengths)))
        self.lengths = self.torch.from_numpy(corpus.lengths)
        return Built(self.tokens.element_size() * self.tokens.shape[1])

    def search(self, query: Rows, k: int) -> list[int]:
        """Every similarity is computed."""
        similarities = self.tokens @ self.torch.from_numpy(query).T  # (tokens, rows)
        best = self.torch.segment_reduce(similarities, "max", lengths=self.lengths, unsafe=True)
        rows: list[int] = self.torch.topk(best.sum(dim=1), k).indices.tolist()
        return rows


class MaxSimCpu:
    """maxsim-cpu's function for passages of different lengths."""

    def build(self, corpus: TokenCorpus, folder: Path) -> Built:
        """Copy the vectors into memory, a matrix a passage."""
        self.scores = import_module("maxsim_cpu").maxsim_scores_variable
        self.passages = np.split(corpus.part(0, len(corpus.lengths)), corpus.starts[1:-1])
        return Built(self.passages[0][0].nbytes)

    def search(self, query: Rows, k: int) -> list[int]:
        """Every passage is scored."""
        return best_rows(np.asarray(self.scores(query, self.passages)), k)


class Plaid:
    """PLAID by Stanford's engine, as PyLate carries it, with 2 bits and PyLate's other defaults.

    It compiles C++ when it is first used; that is done on a few passages before the clock runs.
    """

    def build(self, corpus: TokenCorpus, folder: Path) -> Built:
        """Index the vectors on disk; the bytes are those of all its files."""
        self.library = import_module("pylate.indexes")
        path = folder / f"plaid-{len(corpus.lengths)}"
        passages = np.split(corpus.part(0, len(corpus.lengths)), corpus.starts[1:-1])
        self.index = self.library.PLAID(str(path), "x", override=True, use_fast=False, nbits=2)
        self.index.add_documents([str(i) for i in range(len(passages))], passages)
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return Built(size / len(corpus.tokens))

    def search(self, query: Rows, k: int) -> list[int]:
        """The numbers of the passages found."""
        return [int(found["id"]) for found in self.index([query], k=k)[0]]


def best_rows(scores: NDArray[np.floating], k: int) -> list[int]:
    """The rows of the best k scores, best first."""
    best = np.argpartition(-scores, k - 1)[:k]
    rows: list[int] = best[np.argsort(-scores[best])].tolist()
    return rows


ENGINES: dict[str, Callable[[], Engine]] = {
    "spanwise exact": lambda: Spanwise(8, exact=True),
    "spanwise all 4 bits": lambda: Spanwise(4, exact=True),
    "spanwise all 2 bits": lambda: Spanwise(2, exact=True),
    "spanwise 8 bits": lambda: Spanwise(8, exact=False),
    "spanwise 4 bits": lambda: Spanwise(4, exact=False),
    "spanwise 2 bits": lambda: Spanwise(2, exact=False),
    "torch float32": Torch,
    "maxsim-cpu": MaxSimCpu,
    "PLAID": Plaid,
}
