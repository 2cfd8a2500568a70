"""A decoder whose next-token probabilities stand in a table, for worked examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch

from spanwise.reader.decoding.decoder import Step


class TableDecoder:
    """`table` maps what was written to the next token's probabilities; `states` tokens to hidden states."""

    def __init__(
        self,
        table: Mapping[tuple[int, ...], Mapping[int, float]],
        vocabulary: int,
        end: Sequence[int] = (),
        states: Mapping[int, Sequence[float]] | None = None,
        prompt: int = 0,
    ) -> None:
        self.end, self.room = frozenset(end), 1000
        self._table, self._vocabulary, self._states, self._prompt = table, vocabulary, states, prompt
        self.rows: list[tuple[int, ...]] = [()]

    def begin(self) -> Step:
        self.rows = [()]
        return self._step([self._prompt])

    def step(self, parents: Sequence[int], tokens: Sequence[int]) -> Step:
        self.rows = [(*self.rows[parent], token) for parent, token in zip(parents, tokens, strict=True)]
        return self._step(tokens)

    def _step(self, newest: Sequence[int]) -> Step:
        logits = torch.full((len(self.rows), self._vocabulary), -math.inf)
        for row, written in enumerate(self.rows):
            for token, p in self._table.get(written, {0: 1.0}).items():
                logits[row, token] = math.log(p)
        if self._states is None:
            return Step(logits)
        return Step(logits, torch.tensor([[self._states[token]] for token in newest]))


def finish(tokens):
    """What a generator yields and what it returns."""
    found = []
    while True:
        try:
            found.append(next(tokens))
        except StopIteration as stop:
            return found, stop.value
