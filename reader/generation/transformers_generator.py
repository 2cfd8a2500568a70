"""A generator of any causal or sequence-to-sequence model of transformers, decoded by our own methods."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from spanwise.errors import GenerationFailed

from ...models.generative import (
    end_tokens,
    generative_digest,
    input_limit,
    load_generative,
    n_positions_of,
    reading_side,
    start_tokens,
)
from ...models.load import check_vocabulary, load_library_tokenizer
from ...models.locate import find_model
from ...models.precision import compute_dtype, pick_device
from ..decoding.decode import decode
from ..decoding.decoder import Decoder
from ..decoding.generated import Generated
from ..decoding.settings import Decoding
from ..decoding.stopping import Limits
from .causal_decoder import CausalDecoder
from .prompt import Prompt
from .prompt_tokens import TRIAL, PromptTokens
from .protocol import Written
from .seq2seq_decoder import Seq2SeqDecoder
from .text_pieces import TextPieces

Tokens = Pieces[int, None, Generated]


def load_generator(name: str, device: str | None = None, room: int | None = None) -> TransformersGenerator:
    """The generator of a folder or of name@revision, in bf16 on a GPU that has it, else in float32.

    `room` takes the place of what the folder states, for models whose positions are relative. ModelNotFound
    and ModelRejected say what is wrong with the model; ValueError for more room than it has positions.
    """
    folder = find_model(name)
    model, tokenizer = load_generative(folder), load_library_tokenizer(folder)
    check_vocabulary(tokenizer, model, folder)
    config: Any = model.config
    positions = n_positions_of(config, reading_side(config))
    if room is not None and not 1 < room <= (positions or room):
        raise ValueError(
            f"room for {room} tokens, but {folder} has positions for {positions or 'any number'}"
        )
    prompts = PromptTokens(tokenizer, folder)
    prompts.ids(TRIAL)
    start = start_tokens(model, folder) if config.is_encoder_decoder else ()
    where = pick_device(device)
    model.to(where, compute_dtype(where) if where.type == "cuda" else torch.float32)
    room = room or input_limit(config, tokenizer)
    return TransformersGenerator(name, generative_digest(folder), room, model, tokenizer, prompts, start)


class TransformersGenerator:
    """Writes with one model, one text at a time; `load_generator` makes it.

    `room` holds for prompt and text together. A model with an encoder has as many positions for each of them,
    so that nothing overflows. The same prompt, settings and device give the same text.
    """

    def __init__(
        self,
        name: str,
        digest: str,
        room: int,
        model: Any,
        tokenizer: Any,
        prompts: PromptTokens,
        start: Sequence[int] = (),
    ) -> None:
        self.name, self.digest, self.room = name, digest, room
        self._model, self._tokenizer, self._prompts, self._start = model, tokenizer, prompts, start
        self._end = end_tokens(model, tokenizer)

    def n_tokens(self, prompt: Prompt) -> int:
        """How many tokens this prompt takes, exactly."""
        return len(self._prompts.ids(prompt))

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        """Yields the text as its tokens come, that of beam search in one piece; returns all of it.

        ValueError for a prompt that leaves no room, before the first piece. GenerationFailed when the model
        fails on the way, as by lack of memory.
        """
        decoder = self.decoder(prompt)
        limits = replace(limits, tokens=min(limits.tokens, decoder.room))
        texts = _texts(self._tokens(decoder, decoding, limits), TextPieces(self._tokenizer))
        pieces: list[str] = []
        at_once = decoding.method == "beam"
        while True:
            try:
                pieces.append(next(texts))
            except StopIteration as stop:
                generated: Generated = stop.value
                break
            if not at_once:
                yield pieces[-1]
        text = "".join(pieces)
        if at_once and text:
            yield text
        return Written(text, generated.ended, len(generated.tokens), generated.logprob)

    def decoder(self, prompt: Prompt) -> Decoder:
        """The model before the first token of a text; ValueError when the prompt leaves no room for one."""
        ids = self._prompts.ids(prompt)
        if len(ids) >= self.room:
            raise ValueError(
                f"the prompt takes {len(ids)} tokens and {self.name} has room for {self.room}, "
                "at least one of them for the answer: give it fewer or shorter passages"
            )
        left = self.room - len(ids)
        if not self._start:
            return CausalDecoder(self._model, ids, self._end, left)
        positions = n_positions_of(self._model.config, "decoder") or self.room
        left = min(left, positions - len(self._start))
        return Seq2SeqDecoder(self._model, ids, self._start, self._end, left)

    def _tokens(self, decoder: Decoder, decoding: Decoding, limits: Limits) -> Tokens:
        try:
            return (yield from decode(decoder, decoding, limits))
        except (RuntimeError, MemoryError) as error:
            raise GenerationFailed(f"{self.name} failed while it wrote: {error}") from error


def _texts(tokens: Tokens, pieces: TextPieces) -> Pieces[str, None, Generated]:
    """Yields the pieces that are not empty."""
    while True:
        try:
            piece = pieces.add(next(tokens))
        except StopIteration as stop:
            if rest := pieces.rest():
                yield rest
            generated: Generated = stop.value
            return generated
        if piece:
            yield piece
