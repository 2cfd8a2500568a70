"""A reader's logits for pairs of question and passage, stored in a folder to train other readers.

`labels.sqlite` holds the digest of the reader and a row for each pair. A position is the index of a token in
the passage. Numbers are in float16, little-endian.

Labels can train every reader whose tokenizer gives the same word pieces, whatever their ids. BERT's and
MPNet's tokenizers differ for a text with a special token, such as [SEP] or <s>. So compare the number of
tokens before use.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import DataMalformed, ModelMismatch
from spanwise.types import ProgressCallback, no_progress

from .span_reader import SUPPORT, SpanReader
from .spans import (
    Floats,
    Pair,
    Ranges,
    Split,
    Tokens,
    WindowLogits,
    lowest_null,
    mean_evidence,
    merged_logits,
)

FILE = "labels.sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS reader (digest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS labels (
    key BLOB PRIMARY KEY, n_tokens INTEGER, single BLOB,
    start_positions BLOB, start_logits BLOB, end_positions BLOB, end_logits BLOB, support BLOB
);
"""
KINDS = ("<u2", "<f2", "<u2", "<f2", "<f2")  # of the last columns
N_BEST = 32  # positions of a label
MAX_TOKENS = (1 << 16) - 1  # of a passage; positions of later ones are left out
PAIRS_AT_ONCE = 256


@dataclass(frozen=True, slots=True, eq=False)
class PairLabel:
    """A reader's logits for a question and a passage, in float16; NaN for logits that a reader does not give.

    n_tokens: the number of tokens of the passage.
    relevance: the logit that the passage answers.
    null_start, null_end: the logits of "no answer".
    start_positions: (n,) uint16, the tokens of the passage with the highest start logits, best first.
    start_logits: (n,) float16, their logits.
    end_positions, end_logits: the same for the end.
    support: (s,) float16, the mean logit over the tokens of each sentence.
    """

    n_tokens: int
    relevance: float
    null_start: float
    null_end: float
    start_positions: NDArray[np.uint16]
    start_logits: NDArray[np.float16]
    end_positions: NDArray[np.uint16]
    end_logits: NDArray[np.float16]
    support: NDArray[np.float16]


class LabelStore:
    """The labels of one reader in a folder, all in memory; opened or created by `open`."""

    def __init__(self, folder: Path, reader: str, labels: dict[bytes, PairLabel]) -> None:
        self.folder = folder
        self.reader = reader
        self._labels = labels

    @classmethod
    def open(cls, folder: Path, reader: str | None = None) -> Self:
        """The labels in a folder. Given the digest of a reader, a missing folder is created.

        DataMalformed for missing or damaged labels, ModelMismatch for labels of another reader.
        """
        path = folder / FILE
        if reader is None and not path.is_file():
            raise DataMalformed(f"{folder} holds no labels. Make some with: spanwise train label")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with _database(path) as database:
                database.executescript(SCHEMA)
                database.execute(
                    "INSERT INTO reader SELECT ? WHERE NOT EXISTS (SELECT * FROM reader)", [reader]
                )
                [stored_reader] = database.execute("SELECT digest FROM reader").fetchone()
                labels = {key: _label(*row) for key, *row in database.execute("SELECT * FROM labels")}
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise DataMalformed(f"{path} cannot be read: {error}. Remove it to start anew") from error
        if reader not in (None, stored_reader):
            raise ModelMismatch(
                f"{folder} has the labels of another reader ({stored_reader[:12]}, not {str(reader)[:12]}): "
                "name another folder, or remove it"
            )
        return cls(folder, stored_reader, labels)

    def __len__(self) -> int:
        """The number of pairs with a label."""
        return len(self._labels)

    def __contains__(self, pair: Pair) -> bool:
        """True for a pair with a label."""
        return self._key(pair) in self._labels

    def get(self, question: str, context: str, text: str) -> PairLabel | None:
        """The label of a question and a passage with its context, see `context_of`; None without one."""
        return self._labels.get(self._key(Pair(question, context, text)))

    def add(self, labelled: Iterable[tuple[Pair, PairLabel]]) -> None:
        """Stores labels at once."""
        rows = {self._key(pair): _row(label) for pair, label in labelled}
        with _database(self.folder / FILE) as database:
            database.executemany(
                "REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(key, *row) for key, row in rows.items()],
            )
        self._labels.update({key: _label(*row) for key, row in rows.items()})

    def _key(self, pair: Pair) -> bytes:
        digest = hashlib.sha256()
        for text in pair:
            encoded = text.encode()
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
        return digest.digest()[:16]


def label_pairs(
    reader: SpanReader,
    store: LabelStore,
    pairs: Iterable[Pair],
    split: Split,
    on_progress: ProgressCallback = no_progress,
) -> tuple[int, int]:
    """Adds the missing labels to `store`, batch by batch; returns the numbers of labels and of tokens read.

    `split` gives the sentences of a passage.
    """
    missing = [pair for pair in dict.fromkeys(pairs) if pair not in store]
    n_tokens = 0
    for first in range(0, len(missing), PAIRS_AT_ONCE):
        on_progress("labels", first, len(missing))
        batch = missing[first : first + PAIRS_AT_ONCE]
        inputs = reader.inputs(batch)
        logits = reader.logits(inputs)
        store.add(
            (pair, label_of(windows, tokens.passage, split(pair.text)))
            for pair, tokens, windows in zip(batch, inputs, logits, strict=True)
        )
        for tokens, windows in zip(inputs, logits, strict=True):
            n_tokens += sum(reader.overhead(tokens) + len(window.start) for window in windows)
    on_progress("labels", len(missing), len(missing))
    return len(missing), n_tokens


def label_of(windows: Sequence[WindowLogits], passage: Tokens, sentences: Ranges) -> PairLabel:
    """The label of a passage from the logits of all its windows, merged as `SpanReader` does.

    In overlaps the higher logit counts. The logits of "no answer" come from the window with the lowest null
    score. The relevance is the highest of all windows.
    """
    start, end = merged_logits(windows, len(passage.ids))
    means = [mean_evidence(windows, passage.offsets, *sentence) for sentence in sentences]
    return PairLabel(
        min(len(passage.ids), MAX_TOKENS),
        max((window.relevance for window in windows), default=np.nan),
        *lowest_null(windows),
        *_best(start),
        *_best(end),
        np.array([np.nan if mean is None else mean[SUPPORT] for mean in means], dtype=np.float16),
    )


def _best(logits: Floats) -> tuple[NDArray[np.uint16], NDArray[np.float16]]:
    """Positions and values of the highest logits, best first; ties are ordered by position."""
    positions = np.argsort(-logits[:MAX_TOKENS], kind="stable")[:N_BEST]
    return positions.astype(np.uint16), logits[positions].astype(np.float16)


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    """The database of labels; what the block changes is committed at its end."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def _row(label: PairLabel) -> list[Any]:
    single = np.array([label.relevance, label.null_start, label.null_end])
    starts = (label.start_positions, label.start_logits)
    ends = (label.end_positions, label.end_logits)
    arrays = zip((*starts, *ends, label.support), KINDS, strict=True)
    return [
        label.n_tokens,
        single.astype("<f2").tobytes(),
        *(part.astype(kind).tobytes() for part, kind in arrays),
    ]


def _label(n_tokens: int, single: bytes, *arrays: bytes) -> PairLabel:
    relevance, null_start, null_end = np.frombuffer(single, "<f2").tolist()
    columns = [np.frombuffer(data, kind) for data, kind in zip(arrays, KINDS, strict=True)]
    return PairLabel(n_tokens, relevance, null_start, null_end, *columns)
