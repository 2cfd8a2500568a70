"""Question and passage as model input: `[CLS] question [SEP] context, window of the passage [SEP]`.

The context is the headings above a passage: it is read and never part of an answer. A passage that is longer
than the input is read in windows that overlap by a stride, so that every token is read (Devlin et al. 2019,
the SQuAD set-up).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.tokenizer import SpecialTokens
from .spans import Window

MAX_QUESTION_TOKENS = 64
MAX_CONTEXT_TOKENS = 48


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's token ids (n,) int32 and the [start, end) code points of each (n, 2) int32."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Input:
    """The tokens of a question, of the headings above a passage, and of the passage."""

    question: Tokens
    context: Tokens
    passage: Tokens


def tokenize(tokenizer: Any, texts: Sequence[str]) -> list[Tokens]:
    """The tokens of each text, without special tokens and without a limit on the length."""
    if not texts:
        return []
    encodings = tokenizer(
        list(texts), add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
    )
    return [
        Tokens(np.asarray(ids, dtype=np.int32), np.asarray(offsets, dtype=np.int32).reshape(-1, 2))
        for ids, offsets in zip(encodings["input_ids"], encodings["offset_mapping"], strict=True)
    ]


def windows(
    pair: int, n_question: int, n_passage: int, n_special: int, max_length: int, stride: int
) -> list[Window]:
    """The windows that cover a passage; neighbours share `stride` tokens, the last one is full.

    `n_question` and `n_special` are the tokens of question and context and the special ones.

    >>> [(w.first, w.last) for w in windows(0, 4, 20, 3, max_length=17, stride=4)]
    [(0, 10), (6, 16), (10, 20)]
    """
    room = max_length - n_question - n_special
    if room <= stride:
        raise ValueError(
            f"max_length {max_length} leaves {room} tokens for the passage, expected more than {stride}"
        )
    if n_passage <= room:
        return [Window(pair, 0, n_passage)] if n_passage else []
    firsts = [*range(0, n_passage - room, room - stride), n_passage - room]
    return [Window(pair, first, first + room) for first in firsts]


@dataclass(frozen=True, slots=True)
class ModelInput:
    """A padded batch: int64 arrays (B, L), and where each passage window begins in its row (B,)."""

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    passage_mask: NDArray[np.bool_]
    shift: NDArray[np.int64]


Row = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""The ids of a question, of the context and of a window of the passage."""
NO_CONTEXT = np.zeros(0, dtype=np.int32)


def assemble(rows: Sequence[Row], special: SpecialTokens, multiple: int = 8) -> ModelInput:
    """The batch for rows of ids, padded to a multiple of `multiple`."""
    lengths = [sum(map(len, row)) + special.count for row in rows]
    width = -(-max(lengths) // multiple) * multiple
    shape = (len(rows), width)
    ids = np.full(shape, special.pad, dtype=np.int64)
    mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    passage = np.zeros(shape, dtype=np.bool_)
    shift = np.zeros(len(rows), dtype=np.int64)
    for row, (question, context, window) in enumerate(rows):
        second = len(special.before) + len(question) + len(special.between)
        at = second + len(context)
        line = np.concatenate([special.before, question, special.between, context, window, special.after])
        ids[row, : len(line)], mask[row, : len(line)], shift[row] = line, 1, at
        passage[row, at : at + len(window)] = True
        types[row, second : len(line)] = special.segment
    return ModelInput(ids, mask, types, passage, shift)
