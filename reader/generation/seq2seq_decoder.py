"""A model with an encoder (T5, BART and their kin) in the middle of writing, with its caches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..decoding.decoder import Step
from .forward import forward, is_in_place


class Seq2SeqDecoder:
    """Writes what follows `start` for a prompt that the encoder reads once; see `decoding.decoder.Decoder`.

    The states of `begin` are those of the decoder at the tokens of `start`.
    """

    def __init__(
        self, model: Any, prompt: Sequence[int], start: Sequence[int], end: frozenset[int], room: int
    ) -> None:
        self.end, self.room = end, room
        self._model, self._prompt, self._start = model, list(prompt), list(start)
        self._source: Tensor | None = None  # what the encoder says: (1, prompt tokens, width)
        self._cache: Any = None
        self._n_rows = 1

    @torch.inference_mode()
    def begin(self) -> Step:
        """The scores of the first token; forgets what was written, not what the encoder said."""
        if self._source is None:
            ids = torch.tensor([self._prompt], device=self._model.device)
            read = self._model.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids))
            self._source = read.last_hidden_state
        self._cache, self._n_rows = None, 1
        return self._read(self._source, [self._start])

    @torch.inference_mode()
    def step(self, parents: Sequence[int], tokens: Sequence[int]) -> Step:
        """New rows, as many as there are tokens."""
        if self._source is None:
            raise RuntimeError("step() before begin()")
        if not is_in_place(parents, self._n_rows):
            rows = torch.tensor(parents, device=self._model.device)
            # All rows look at the same prompt: as long as their number stays, that part has nothing to move.
            alike = len(tokens) == self._n_rows
            (self._cache.self_attention_cache if alike else self._cache).reorder_cache(rows)
        self._n_rows = len(tokens)
        return self._read(self._source, [[token] for token in tokens])

    def _read(self, source: Tensor, newest: Sequence[Sequence[int]]) -> Step:
        from transformers.modeling_outputs import BaseModelOutput

        ids = torch.tensor(newest, device=self._model.device)  # (rows, new tokens)
        rows = source.expand(len(newest), -1, -1)
        step, self._cache = forward(
            self._model,
            self._model.get_decoder(),
            encoder_outputs=BaseModelOutput(last_hidden_state=rows),
            attention_mask=ids.new_ones(rows.shape[:2]),
            decoder_input_ids=ids,
            past_key_values=self._cache,
        )
        return step
