"""A text as it was decoded."""

from __future__ import annotations

from dataclasses import dataclass

from .stopping import Ended


@dataclass(frozen=True, slots=True)
class Generated:
    """Token ids, without the end token; the log-probability of all, in nats; what ended the text.

    The log-probability is that of the tokens under the scores that the method chose from, so after penalties
    and blocking, but before temperature, top-k and top-p; the end token's is part of it.
    """

    tokens: tuple[int, ...]
    logprob: float
    ended: Ended
