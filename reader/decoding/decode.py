"""Decodes a text by the method that its settings name."""

from __future__ import annotations

from .beam import beam_search
from .decoder import Decoder
from .one_path import Tokens, contrastive, greedy, sample
from .settings import Decoding
from .stopping import Limits


def decode(decoder: Decoder, decoding: Decoding, limits: Limits) -> Tokens:
    """Yields tokens as they are chosen, those of beam search at its end; returns the text.

    ValueError for contrastive search with a decoder that does not tell its states.
    """
    methods = {"greedy": greedy, "sample": sample, "contrastive": contrastive, "beam": _best_of_beams}
    return methods[decoding.method](decoder, decoding, limits)


def _best_of_beams(decoder: Decoder, decoding: Decoding, limits: Limits) -> Tokens:
    best = beam_search(decoder, decoding, limits)[0]
    yield from best.tokens
    return best
