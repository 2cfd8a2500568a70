"""Where retrievers get their models from: none is loaded before a stage needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .protocol import Encoder, TokenEncoder


@dataclass(frozen=True, slots=True)
class Encoders:
    """`passages` gives the encoder with one vector a passage, `tokens` the one with a vector for each token."""

    passages: Callable[[], Encoder]
    tokens: Callable[[], TokenEncoder]
