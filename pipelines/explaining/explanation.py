"""What an answer rests on: where the reader saw it, its evidence, and where its passage ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spanwise.types import Answer, AskOptions, Passage

from ...reader.evidence import Calibration
from ...reader.spans import TokenScores
from ..confidence import Ranked
from .stage_ranks import StageRank, single_stages, stage_ranks
from .weighed import Weighed, weighed

if TYPE_CHECKING:
    from ..library import Library


@dataclass(frozen=True, slots=True)
class TokenProbability:
    """A token by its place in the document, and how probably the answer begins and ends there."""

    start: int
    end: int
    p_start: float
    p_end: float


@dataclass(frozen=True, slots=True)
class Formula:
    """confidence = 1 / (1 + exp(-(slope * evidence + further + offset))); below `threshold` it is declined.

    `further` is what the fit lets the confidence rest on beside the evidence: weights times features, summed.
    """

    slope: float
    offset: float
    threshold: float
    further: float = 0.0


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer, and why: of the best span, or of the best rejected one where `answer` declines.

    `tokens` are those of its passage; with `null_start` and `null_end`, "no answer" in that passage, their
    probabilities add up to 1. `ranks` are those of the passage, a stage of the retriever each; `rank` is its
    place among what was read, `scores` those that it got on the way. `formula` is None where confidence has
    not been fitted; then `weighed` holds the reader's margin alone. Without any span only `answer` is there.
    """

    answer: Answer
    weighed: Weighed | None = None
    tokens: tuple[TokenProbability, ...] = ()
    null_start: float = 0.0
    null_end: float = 0.0
    rank: int | None = None
    scores: tuple[tuple[str, float], ...] = ()
    ranks: tuple[StageRank, ...] = ()
    formula: Formula | None = None

    @property
    def passage(self) -> Passage | None:
        """The passage that is explained."""
        return self.weighed.passage if self.weighed else None


def explained_answer(library: Library, question: str, options: AskOptions) -> Explanation:
    """The question asked as `Library.ask` would, and explained; costs one more forward pass of the reader."""
    asker = library.asker(options)
    [asked] = asker.trace([question])
    if not asked.ranked:
        return Explanation(asked.answer)
    best = asked.ranked[0]
    passage = best.candidate.scored.passage
    hit = next(hit for hit in asked.hits if hit.passage.id == passage.id)
    ids = np.array([passage.id], np.int64)
    seen = asker.reader.token_scores(question, passage)
    return Explanation(
        asked.answer,
        weighed(best, asker.calibration),
        _tokens(passage, seen),
        seen.null_start,
        seen.null_end,
        hit.rank,
        tuple(hit.scores.items()),
        tuple(
            stage_ranks(
                question,
                ids,
                single_stages(library, options.retriever or library.default_retriever),
                asker.snapshot,
            )
        ),
        _formula(asker.calibration, best, asked.answer.threshold),
    )


def said_of(formula: Formula) -> str:
    """How confidence follows from evidence, in words."""
    further = f" {formula.further:+.3f} for other features" if formula.further else ""
    return (
        f"confidence = 1 / (1 + exp(-({formula.slope:.3f} x evidence{further} {formula.offset:+.3f}))); "
        f"a question is declined below {formula.threshold:.0%}"
    )


def _tokens(passage: Passage, seen: TokenScores) -> tuple[TokenProbability, ...]:
    rows = zip((seen.places + passage.start).tolist(), seen.start.tolist(), seen.end.tolist(), strict=True)
    return tuple(TokenProbability(start, end, p_start, p_end) for (start, end), p_start, p_end in rows)


def _formula(calibration: Calibration | None, best: Ranked, threshold: float | None) -> Formula | None:
    if calibration is None or threshold is None:
        return None
    further = calibration.further(best.candidate.features, best.lead)
    return Formula(calibration.slope, calibration.offset, threshold, further)
