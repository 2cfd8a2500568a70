"""How the texts of one side become token ids: with a prompt in front, cut where the model ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Piece = TypeVar("Piece")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PromptedTexts:
    """`max_length` counts all tokens of a text: [CLS] and [SEP] and those of the prompt among them."""

    tokenizer: Any
    prompt: str
    max_length: int

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text its token ids; of a text that is too long the last ones before [SEP] are left out."""
        if not texts:
            return []
        encoded = self.tokenizer(
            self._prompted(texts), truncation=False, verbose=False, return_attention_mask=False
        )
        return [self._cut(row) for row in encoded["input_ids"]]

    def offsets(self, text: str) -> list[Span | None]:
        """For each id of the text the code points [start, end) that it stands for.

        None for what is not of the text: [CLS], [SEP], the prompt's tokens, and a token of no width.
        """
        encoded = self.tokenizer(
            self._prompted([text]), truncation=False, verbose=False, return_offsets_mapping=True
        )
        of_text = encoded.sequence_ids(0)
        found = zip(encoded["offset_mapping"][0], of_text, strict=True)
        return self._cut([None if of is None else self._in_text(*span) for span, of in found])

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n,) int32: how many code points of each text, from its start, are seen; all, if it fits.

        What follows the last token that fits is not seen, nor is white space before it counted.
        """
        counts = np.array([len(text) for text in texts], dtype=np.int32)
        if not texts:
            return counts
        encoded = self.tokenizer(
            self._prompted(texts), truncation=False, verbose=False, return_offsets_mapping=True
        )["offset_mapping"]
        for i, offsets in enumerate(encoded):
            if len(offsets) > self.max_length:
                end = offsets[self.max_length - 2][1]  # the last position is that of [SEP]
                counts[i] = max(0, end - len(self.prompt))
        return counts

    def _prompted(self, texts: Sequence[str]) -> list[str]:
        return [self.prompt + text for text in texts]

    def _cut(self, row: list[Piece]) -> list[Piece]:
        return row if len(row) <= self.max_length else [*row[: self.max_length - 1], row[-1]]

    def _in_text(self, start: int, end: int) -> Span | None:
        n_prompt = len(self.prompt)
        start, end = max(0, start - n_prompt), end - n_prompt
        return (start, end) if start < end else None
