"""What the check says of a written sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How far a sentence stands on the spans that it was aligned with."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


class Failure(StrEnum):
    """What is wrong with a sentence.

    extrinsic    says what the passages do not, or has an address or markup of its own
    factual      a number, date or name is another one, or what they say is denied
    style        speaks of itself, or asks, where it should report
    """

    EXTRINSIC = "extrinsic"
    FACTUAL = "factual"
    STYLE = "style"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: what kind it is of, the words of the sentence, and why."""

    failure: Failure
    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class Support:
    """The verdict on a sentence: its score in 0..1, the aligned evidence by number, best first, findings.

    `aligned` holds the numbers of the pieces of evidence, as they were given, that carry the sentence; none
    where it stands on nothing.
    """

    verdict: Verdict
    score: float
    aligned: tuple[int, ...]
    findings: tuple[Finding, ...] = ()
