"""Question and passage as model input: `[CLS] question [SEP] context, window of the passage [SEP]`.

The context is what stands above a passage, its headings: it is read and never part of an answer.

A passage that is longer than the input is read in windows that overlap by a stride, so that every
token is read and none is cut in silence (Devlin et al. 2019, the SQuAD set-up).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.tokenizer import SpecialTokens

MAX_QUESTION_TOKENS = 64
MAX_CONTEXT_TOKENS = 48


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's token ids (n,) int32 and the [start, end) code points of each (n, 2) int32."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Input:
    """The tokens of a question, of a passage, and of what stands above the passage."""

    question: Tokens
    context: Tokens
    passage: Tokens


@dataclass(frozen=True, slots=True)
class Window:
    """One model input: tokens [first, last) of a passage after a question.

    `pair` is the index of the (question, passage) pair that it belongs to.
    """

    pair: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class WindowLogits:
    """What the model says of one window: start and end logits of its tokens (n,) and of no answer.

    `sentence` holds how much more each token speaks for its sentence than for no answer, (n,); it is None
    for a model that does not score sentences.
    """

    window: Window
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    null_start: float
    null_end: float
    sentence: NDArray[np.float32] | None = None

    @property
    def null_score(self) -> float:
        """The score of no answer, comparable with that of a span."""
        return self.null_start + self.null_end


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

    `n_question` and `n_special` are what the question, the context and the special tokens take.

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
