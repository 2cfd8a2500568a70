"""Reading in the order of the ranking: the top for every question, the rest where that was not enough."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.types import Hit, ScoredSpan

from ..reader.evidence import Stopping
from ..reader.protocol import Reader

N_BEST = 8

Reading = Sequence[Sequence[ScoredSpan]]
"""The spans of each passage of a question that was read, in the order of its hits; the rest was not read."""


def read_until_enough(
    reader: Reader, questions: Sequence[str], hits: Sequence[Sequence[Hit]], stopping: Stopping | None
) -> list[Reading]:
    """What was read of the hits of each question: all without a rule, else all or its first part.

    All questions are read together, and once more together those for which the first part was not enough.
    """
    if stopping is None:
        return read_on(reader, questions, hits, [()] * len(hits), range(len(hits)))
    top = [found[: stopping.part(len(found))] for found in hits]
    readings = read_on(reader, questions, top, [()] * len(top), range(len(top)))
    open_still = [
        at
        for at, reading in enumerate(readings)
        if not stopping.is_enough(scored for spans in reading for scored in spans)
    ]
    return read_on(reader, questions, hits, readings, open_still)


def read_on(
    reader: Reader,
    questions: Sequence[str],
    hits: Sequence[Sequence[Hit]],
    readings: Sequence[Reading],
    numbers: Sequence[int],
) -> list[Reading]:
    """The readings; those of the questions of these numbers go on to the last hit, read together."""
    found = list(readings)
    waiting = [at for at in numbers if len(readings[at]) < len(hits[at])]
    if not waiting:
        return found
    left = [[hit.passage for hit in hits[at][len(readings[at]) :]] for at in waiting]
    for at, more in zip(waiting, reader.read([questions[at] for at in waiting], left, N_BEST), strict=True):
        found[at] = [*readings[at], *more]
    return found
