"""Which generator writes, and how it decodes."""

from __future__ import annotations

from dataclasses import dataclass

from ...reader.decoding.settings import Decoding
from ...reader.decoding.stopping import Limits
from ...reader.generation.protocol import Generator
from ...reader.support.check import Checker
from .citing import Citer
from .lengths import Length
from .written import Writer


@dataclass(frozen=True, slots=True)
class Writing:
    """A generator, how it decodes, and the seconds it has for one text; None: as long as it takes."""

    generator: Generator
    decoding: Decoding
    seconds: float | None = None

    def writer(self, checker: Checker, citer: Citer, length: Length) -> Writer:
        """What writes a text of that length, and checks and cites its sentences."""
        limits = Limits(tokens=length.tokens, seconds=self.seconds)
        return Writer(self.generator, self.decoding, limits, length, checker, citer)
