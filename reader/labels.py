"""A reader's logits for pairs of question and passage, stored in a folder to train other readers.

    labels.json        the format, and the digest of the reader
    labels-NNNN.bin    appended records; each run that adds records has its own file

A record, in little-endian numbers; n positions and s sentences:

    uint32             crc32 of all that follows
    16 bytes           key: the first bytes of the sha256 of the reader's digest and the three texts, each
                       preceded by its length in bytes
    uint16 x 3         tokens of the passage, n, s
    float16 x 3        relevance; start and end logit of "no answer"
    uint16, float16 x n    positions and start logits, best first; then the same of end logits
    float16 x s        support of each sentence

A position is the index of a token in the passage. An incomplete last record, as after a kill, is ignored.
Labels can train every reader whose tokenizer gives the same word pieces, whatever their ids. BERT's and
MPNet's tokenizers differ for a text with a special token, such as [SEP] or <s>. So compare the number of
tokens before use.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import DataMalformed, FormatTooNew, ModelMismatch
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

MANIFEST = "labels.json"
SHARDS = "labels-*.bin"
FORMAT = 1
N_BEST = 32  # positions of a record
MAX_TOKENS = (1 << 16) - 1  # of a passage; positions of later ones are left out
PAIRS_AT_ONCE = 256
_HEAD = struct.Struct("<I16sHHH")  # crc32, key, tokens, n, s
_CRC_BYTES = 4

Shard = bytes | mmap.mmap
Place = tuple[int, int]
"""The number of a shard, and the position of a record in it in bytes."""


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
    """The labels of one reader in a folder; opened or created by `open`."""

    def __init__(self, folder: Path, reader: str, shards: list[Shard], places: dict[bytes, Place]) -> None:
        self.folder = folder
        self.reader = reader
        self._shards = shards
        self._places = places
        self._own_shard: Path | None = None

    @classmethod
    def open(cls, folder: Path, reader: str | None = None) -> Self:
        """The labels in a folder. Given the digest of a reader, a missing folder is created.

        DataMalformed for missing or damaged labels, ModelMismatch for labels of another reader, FormatTooNew
        for labels of a newer version.
        """
        stored_reader = _stored_reader(folder / MANIFEST)
        if stored_reader is None:
            if reader is None:
                raise DataMalformed(f"{folder} holds no labels. Make some with: spanwise train label")
            folder.mkdir(parents=True, exist_ok=True)
            unfinished = folder / f"{MANIFEST}.part"
            unfinished.write_text(json.dumps({"format": FORMAT, "reader": reader}) + "\n", encoding="utf-8")
            unfinished.replace(folder / MANIFEST)
            stored_reader = reader
        if reader is not None and reader != stored_reader:
            raise ModelMismatch(
                f"{folder} holds the labels of another reader ({stored_reader[:12]}, not {reader[:12]}): "
                "name another folder, or remove it"
            )
        shards: list[Shard] = []
        places: dict[bytes, Place] = {}
        for path in sorted(folder.glob(SHARDS)):
            if path.stat().st_size:
                with path.open("rb") as file:
                    shard = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                for key, position in _records(shard, path):
                    places[key] = (len(shards), position)
                shards.append(shard)
        return cls(folder, stored_reader, shards, places)

    def __len__(self) -> int:
        """The number of pairs with a label."""
        return len(self._places)

    def __contains__(self, pair: Pair) -> bool:
        """True for a pair with a label."""
        return self._key(pair) in self._places

    def get(self, question: str, context: str, text: str) -> PairLabel | None:
        """The label of a question and a passage with its context, see `context_of`; None without one."""
        place = self._places.get(self._key(Pair(question, context, text)))
        return None if place is None else _label(self._shards[place[0]], place[1])

    def add(self, labelled: Iterable[tuple[Pair, PairLabel]]) -> None:
        """Appends labels to a file of the folder."""
        records = bytearray()
        places: dict[bytes, Place] = {}
        for pair, label in labelled:
            key = self._key(pair)
            places[key] = (len(self._shards), len(records))
            records += _record(key, label)
        if not records:
            return
        path = self._own_shard or _new_shard(self.folder)
        self._own_shard = None  # until the write succeeds: nothing may follow an incomplete record
        with path.open("ab") as file:
            file.write(records)
        self._own_shard = path
        self._shards.append(bytes(records))
        self._places.update(places)

    def _key(self, pair: Pair) -> bytes:
        digest = hashlib.sha256()
        for text in (self.reader, *pair):
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


def _record(key: bytes, label: PairLabel) -> bytes:
    single = np.array([label.relevance, label.null_start, label.null_end])
    starts = (label.start_positions, label.start_logits)
    ends = (label.end_positions, label.end_logits)
    values = b"".join(
        part.astype("<u2" if part.dtype == np.uint16 else "<f2").tobytes()
        for part in (single, *starts, *ends, label.support)
    )
    record = _HEAD.pack(0, key, label.n_tokens, len(label.start_positions), len(label.support)) + values
    return crc32(record[_CRC_BYTES:]).to_bytes(_CRC_BYTES, "little") + record[_CRC_BYTES:]


def _label(shard: Shard, position: int) -> PairLabel:
    """The label of a record; its arrays are views of the shard."""
    _, _, n_tokens, n, s = _HEAD.unpack_from(shard, position)
    values = np.frombuffer(shard, "<f2", _n_values(n, s), position + _HEAD.size)
    single, best, support = np.split(values, [3, 3 + 4 * n])
    start_positions, start_logits, end_positions, end_logits = best.reshape(4, n)
    relevance, null_start, null_end = map(float, single)
    return PairLabel(
        n_tokens,
        relevance,
        null_start,
        null_end,
        start_positions.view("<u2"),
        start_logits,
        end_positions.view("<u2"),
        end_logits,
        support,
    )


def _records(shard: mmap.mmap, path: Path) -> Iterator[tuple[bytes, int]]:
    """The key and the position of each record; DataMalformed for a wrong checksum."""
    position = 0
    while position + _HEAD.size <= len(shard):
        crc, key, _, n, s = _HEAD.unpack_from(shard, position)
        end = position + _HEAD.size + 2 * _n_values(n, s)
        if end > len(shard):  # an incomplete record
            return
        if crc32(shard[position + _CRC_BYTES : end]) != crc:
            raise DataMalformed(f"{path} is damaged at byte {position}: remove it and label again")
        yield key, position
        position = end


def _n_values(n: int, s: int) -> int:
    return 3 + 4 * n + s


def _stored_reader(path: Path) -> str | None:
    """The digest of the reader in a manifest; None without the file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        version = int(record["format"])
        reader = str(record["reader"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DataMalformed(f"{path} cannot be read: {error!r}. Remove its folder to start anew") from error
    if version > FORMAT:
        raise FormatTooNew(f"{path} has format {version}, this version reads {FORMAT}: update spanwise")
    return reader


def _new_shard(folder: Path) -> Path:
    """A new empty shard that no other process writes to."""
    number = len(list(folder.glob(SHARDS)))
    while True:
        path = folder / SHARDS.replace("*", f"{number:04}")
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return path
