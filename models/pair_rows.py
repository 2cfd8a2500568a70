"""A question and a passage as one sequence of tokens: [CLS] question [SEP] passage [SEP], or alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .packed_tokens import Ids, PackedTokens
from .pair_template import special_tokens

MAX_QUESTION_TOKENS = 64
_TEXTS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class PairRow:
    """Token ids (n,) int32, of which those from `second` on are of the second segment."""

    ids: NDArray[np.int32]
    second: int

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.ids)


class PairRows:
    """Makes rows of at most `max_length` tokens: what is too long loses the end of its passage.

    Of a question at most 64 tokens are taken. A model without `segments` has all tokens of the first.
    """

    def __init__(self, tokenizer: Any, max_length: int, segments: bool = True) -> None:
        special = special_tokens(tokenizer)
        self.special = special if segments else replace(special, segment=0)
        self.tokenizer, self.max_length = tokenizer, max_length
        if max_length <= MAX_QUESTION_TOKENS + self.special.count:
            raise ValueError(f"max_length {max_length} leaves no room for a passage beside a question")

    def tokens_of(self, texts: Iterable[str], whole: bool = False) -> dict[str, NDArray[np.int32]]:
        """The ids of each distinct text, without special tokens: all with `whole`, or what a row can hold."""
        most = None if whole else self.max_length
        distinct = list(dict.fromkeys(texts))
        found: dict[str, NDArray[np.int32]] = {}
        for at in range(0, len(distinct), _TEXTS_AT_ONCE):
            part = distinct[at : at + _TEXTS_AT_ONCE]
            ids = self.tokenizer(part, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
            found |= {text: np.array(row[:most], np.int32) for text, row in zip(part, ids, strict=True)}
        return found

    def row(self, question: NDArray[np.int32], passage: NDArray[np.int32]) -> PairRow:
        """The row of a question and a passage, given as `tokens_of` gives them."""
        question = question[:MAX_QUESTION_TOKENS]
        room = self.room(question)
        head = np.concatenate([self.special.before, question, self.special.between])
        ids = np.concatenate([head, passage[:room], self.special.after]).astype(np.int32)
        return PairRow(ids, len(head))

    def windows(self, question: NDArray[np.int32], passage: NDArray[np.int32]) -> list[PairRow]:
        """The rows that show a whole passage: one, or more of full length that overlap by half."""
        room = self.room(question)
        last = max(0, len(passage) - room)
        starts = [*range(0, last, max(1, room // 2)), last]
        return [self.row(question, passage[start:]) for start in starts]

    def room(self, question: NDArray[np.int32]) -> int:
        """How many tokens of a passage fit beside a question."""
        return self.max_length - self.special.count - min(len(question), MAX_QUESTION_TOKENS)

    def packed(self, rows: Sequence[PairRow]) -> PackedTokens:
        """The rows one after another, with their segments."""
        ids = np.concatenate([row.ids for row in rows]).astype(np.int64)
        types = np.concatenate([_types(row, self.special.segment) for row in rows])
        return PackedTokens(ids, types, np.array([len(row) for row in rows], np.int64))


def _types(row: PairRow, segment: int) -> Ids:
    types = np.zeros(len(row), np.int64)
    types[row.second :] = segment
    return types
