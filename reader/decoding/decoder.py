"""What every decoding method asks of a model: the scores of the next token, for several texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Step:
    """What a model says after the newest tokens.

    `logits` are the scores of the next token, float (rows, vocabulary). `hidden` are the states of the newest
    tokens, float (rows, tokens, width): one a row after `step`, and those of the prompt after `begin`. None
    where a model does not tell them; then contrastive search is refused.
    """

    logits: Tensor
    hidden: Tensor | None = None


class Decoder(Protocol):
    """A model in the middle of writing; it remembers what it read (its cache), row by row.

    `end` holds the tokens that end a text, `room` how many tokens it can write at most.
    """

    end: frozenset[int]
    room: int

    def begin(self) -> Step:
        """The scores of the first token, in one row; forgets what was written before."""

    def step(self, parents: Sequence[int], tokens: Sequence[int]) -> Step:
        """New rows: row i goes on from the former row `parents[i]` with `tokens[i]`."""
