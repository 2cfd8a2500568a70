"""What every generator is: something that writes a text from a prompt, piece by piece."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from dataclasses import dataclass
from typing import Protocol

from ..decoding.settings import Decoding
from ..decoding.stopping import Ended, Limits
from .prompt import Prompt


@dataclass(frozen=True, slots=True)
class Written:
    """A text that was written to its end.

    `logprob` is its log-probability in nats, None where the generator does not tell it. `ended` says what
    ended it: a text that ended at the most tokens or with its time may stop in the middle of a sentence.
    """

    text: str
    ended: Ended
    n_tokens: int
    logprob: float | None = None


class Generator(Protocol):
    """`name` is what `--generator` calls it, `digest` names the exact weights, or the endpoint and its model.

    `room` is how many tokens prompt and text may have together.
    """

    name: str
    digest: str
    room: int

    def n_tokens(self, prompt: Prompt) -> int:
        """How many tokens this prompt takes, as this generator renders it; exact, or an upper estimate."""

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        """Yields the text as it comes, returns all of it.

        A generator that cannot follow `decoding` raises ValueError before the first piece. One that fails on
        the way raises a `GenerationFailed`: what was yielded until then is no answer.
        """
