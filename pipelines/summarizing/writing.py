"""Which generator writes, how it decodes, and how many texts it draws."""

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
    """A generator, how it decodes, and the seconds it has for one text; None: as long as it takes.

    Of several `samples`, drawn with consecutive seeds, that is taken which agrees most with the others, see
    `reader.decoding.mbr.agreed`. ValueError for several with a method that draws nothing, or for none.
    """

    generator: Generator
    decoding: Decoding
    seconds: float | None = None
    samples: int = 1

    def __post_init__(self) -> None:
        """Refuse what could only give the same text again."""
        if self.samples < 1:
            raise ValueError(f"{self.samples} samples; expected at least 1")
        if self.samples > 1 and (self.decoding.method != "sample" or self.decoding.temperature == 0):
            raise ValueError("several samples are drawn: take a preset that samples, such as general")

    def writer(self, checker: Checker, citer: Citer, length: Length) -> Writer:
        """What writes a text of that length, and checks and cites its sentences."""
        limits = Limits(tokens=length.tokens, seconds=self.seconds)
        return Writer(self.generator, self.decoding, limits, length, checker, citer, self.samples)
