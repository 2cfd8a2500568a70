"""A causal model (GPT-2, Llama and their kin) in the middle of writing, with its cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..decoding.decoder import Step
from .forward import forward, is_in_place


class CausalDecoder:
    """Goes on from the tokens of a prompt, which need at least one; `decoding.decoder.Decoder` says how.

    The states of `begin` are those of all tokens of the prompt. Two decoders of one model may take turns.
    """

    def __init__(self, model: Any, prompt: Sequence[int], end: frozenset[int], room: int) -> None:
        self.end, self.room = end, room
        self._model, self._prompt = model, list(prompt)
        self._cache: Any = None
        self._n_rows, self._n_seen = 1, 0  # rows, and tokens in each of them

    @torch.inference_mode()
    def begin(self) -> Step:
        """The scores of the first token; reads the prompt anew."""
        self._cache, self._n_rows, self._n_seen = None, 1, 0
        return self._read([self._prompt])

    @torch.inference_mode()
    def step(self, parents: Sequence[int], tokens: Sequence[int]) -> Step:
        """New rows, as many as there are tokens."""
        if not is_in_place(parents, self._n_rows):
            self._cache.reorder_cache(torch.tensor(parents, device=self._model.device))
        self._n_rows = len(tokens)
        return self._read([[token] for token in tokens])

    def _read(self, newest: Sequence[Sequence[int]]) -> Step:
        ids = torch.tensor(newest, device=self._model.device)  # (rows, new tokens)
        self._n_seen += ids.shape[1]
        step, self._cache = forward(
            self._model,
            self._model.base_model,
            input_ids=ids,
            attention_mask=ids.new_ones(len(newest), self._n_seen),
            past_key_values=self._cache,
        )
        return step
