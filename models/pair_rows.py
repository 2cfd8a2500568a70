"""A question and a passage as one sequence of tokens: [CLS] question [SEP] passage [SEP], or alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

    Of a question at most 64 tokens are taken.
    """

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self.special = special_tokens(tokenizer)
        self.tokenizer, self.max_length = tokenizer, max_length
        if max_length <= MAX_QUESTION_TOKENS + self.special.count:
            raise ValueError(f"max_length {max_length} leaves no room for a passage beside a question")

    def tokens_of(self, texts: Iterable[str]) -> dict[str, NDArray[np.int32]]:
        """The ids of each distinct text, without special tokens, none more than a row can hold."""
        distinct = list(dict.fromkeys(texts))
        found: dict[str, NDArray[np.int32]] = {}
        for at in range(0, len(distinct), _TEXTS_AT_ONCE):
            part = distinct[at : at + _TEXTS_AT_ONCE]
            ids = self.tokenizer(part, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
            found |= {
                text: np.array(row[: self.max_length], np.int32) for text, row in zip(part, ids, strict=True)
            }
        return found

    def row(self, question: NDArray[np.int32], passage: NDArray[np.int32]) -> PairRow:
        """The row of a question and a passage, given as `tokens_of` gives them."""
        question = question[:MAX_QUESTION_TOKENS]
        room = self.max_length - self.special.count - len(question)
        head = np.concatenate([self.special.before, question, self.special.between])
        ids = np.concatenate([head, passage[:room], self.special.after]).astype(np.int32)
        return PairRow(ids, len(head))

    def packed(self, rows: Sequence[PairRow]) -> PackedTokens:
        """The rows one after another, with their segments."""
        ids = np.concatenate([row.ids for row in rows]).astype(np.int64)
        types = np.concatenate([_types(row, self.special.segment) for row in rows])
        return PackedTokens(ids, types, np.array([len(row) for row in rows], np.int64))


def _types(row: PairRow, segment: int) -> Ids:
    types = np.zeros(len(row), np.int64)
    types[row.second :] = segment
    return types
