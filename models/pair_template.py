"""Where a tokenizer puts its special tokens around two texts: [CLS] first [SEP] second [SEP], or alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The ids around the two segments of an input, as the tokenizer's own template places them.

    `before` opens the question, `between` parts the segments, `after` closes the passage; `null` is the
    position whose start + end is the null score (that of [CLS]), `segment` the type of the passage.
    """

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    pad: int
    null: int
    segment: int

    @property
    def count(self) -> int:
        """How many positions of an input they take."""
        return len(self.before) + len(self.between) + len(self.after)


def special_tokens(tokenizer: Any) -> SpecialTokens:
    """The template of a tokenizer, read off the encoding of a pair of two plain words."""
    encoding = tokenizer("a", "b", return_token_type_ids=True)
    ids, sequence = encoding["input_ids"], encoding.sequence_ids(0)
    first, second = _range(sequence, 0), _range(sequence, 1)
    null = ids.index(tokenizer.cls_token_id) if tokenizer.cls_token_id in ids else 0
    return SpecialTokens(
        before=tuple(ids[: first[0]]),
        between=tuple(ids[first[1] : second[0]]),
        after=tuple(ids[second[1] :]),
        pad=tokenizer.pad_token_id or 0,
        null=null,
        segment=encoding["token_type_ids"][second[0]],
    )


def _range(sequence: Sequence[int | None], segment: int) -> tuple[int, int]:
    where = [i for i, value in enumerate(sequence) if value == segment]
    return where[0], where[-1] + 1
