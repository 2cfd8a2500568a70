"""How well a reader in training reads: answers on held-back questions, and how it declines absent ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from spanwise.types import Passage, ScoredSpan

from ...eval.squad import score_v1
from ...reader.protocol import Reader
from ...reader.training import ReaderExample
from ...reader.unanswerable import unanswerable
from ..candidates import margin, sentence_of
from ..reading import N_BEST

HELD_BACK_KINDS = ("article", "figures", "names")
SEED = 1

Absent = Mapping[str, Sequence[ReaderExample]]
"""Unanswerable examples, by kind."""


def held_back_absent(examples: Sequence[ReaderExample], most: int) -> Absent:
    """At most `most` unanswerable examples of each kind, made of these."""
    made = {kind: unanswerable(examples, {kind: 1.0}, SEED)[:most] for kind in HELD_BACK_KINDS}
    return {kind: held for kind, held in made.items() if held}


def reader_figures(
    reader: Reader, examples: Sequence[ReaderExample], absent: Absent | None = None
) -> dict[str, float]:
    """`exact` and `f1` of answerable examples when none is declined; with `absent`, of a reader that may
    decline, also `answered`, how many of these it does not, and for each kind how many it does.

    All in percent. A question is declined where the null score is above that of the best span. A reader that
    scores sentences also has `sentence`, how often the best one of those it proposes holds the answer, beside
    `sentence_of_span`, how often that of its best span does.
    """
    read = _readings(reader, examples)
    best = [spans[0] if spans else None for spans in read]
    found = {one.id: span.span.text if span else "" for one, span in zip(examples, best, strict=True)}
    scores = score_v1({one.id: (one.answer,) for one in examples}, found)
    figures = {"exact": scores["exact_match"], "f1": scores["f1"], **_sentences(examples, read)}
    if absent:
        figures["answered"] = _share([span is not None and margin(span) >= 0 for span in best])
    for kind, held in (absent or {}).items():
        declined = [not spans or margin(spans[0]) < 0 for spans in _readings(reader, held)]
        figures[f"declined_{kind}"] = _share(declined)
    return figures


def _readings(reader: Reader, examples: Sequence[ReaderExample]) -> list[list[ScoredSpan]]:
    """What the reader proposes for each example on its passage, best first."""
    passages = [[Passage(0, one.id, 0, len(one.passage), one.passage)] for one in examples]
    return [spans for [spans] in reader.read([one.question for one in examples], passages, N_BEST)]


def _sentences(examples: Sequence[ReaderExample], read: Sequence[list[ScoredSpan]]) -> dict[str, float]:
    """The figures of a reader that scores sentences; empty for another."""
    scored = [
        (example, spans)
        for example, spans in zip(examples, read, strict=True)
        if spans and not math.isnan(spans[0].sentence_score)
    ]
    if not scored:
        return {}
    best = [max(spans, key=lambda span: span.sentence_score) for _, spans in scored]
    return {
        "sentence": _share([_holds(span, one) for span, (one, _) in zip(best, scored, strict=True)]),
        "sentence_of_span": _share([_holds(spans[0], one) for one, spans in scored]),
    }


def _holds(span: ScoredSpan, example: ReaderExample) -> bool:
    sentence = sentence_of(span)
    return example.start is not None and sentence.start <= example.start < sentence.end


def _share(which: Sequence[bool]) -> float:
    return 100 * sum(which) / len(which)
