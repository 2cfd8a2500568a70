"""Where retrievers get their models from: none is loaded before a stage needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .protocol import Encoder, TokenEncoder


@dataclass(frozen=True, slots=True)
class Encoders:
    """`passages` gives the encoder with one vector a passage, `tokens` that with one a token."""

    passages: Callable[[], Encoder]
    tokens: Callable[[], TokenEncoder]
