"""How well a reader in training reads: answers on held-back questions, and how it declines absent ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...eval.squad import score_v1
from ...reader.absent.changed_questions import CHANGES
from ...reader.absent.make import unanswerable
from ...reader.examples import ReaderExample
from ...reader.protocol import Reader
from ..candidates import margin
from ..evaluation.squad import GoldQuestion, best_spans

HELD_BACK_KINDS = ("article", *CHANGES)
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

    All in percent. A question is declined where the null score is above that of the best span.
    """
    best = best_spans(reader, [_question(one) for one in examples])
    found = {one.id: span.span.text if span else "" for one, span in zip(examples, best, strict=True)}
    scores = score_v1({one.id: (one.answer,) for one in examples}, found)
    figures = {"exact": scores["exact_match"], "f1": scores["f1"]}
    if absent:
        figures["answered"] = _share([span is not None and margin(span) >= 0 for span in best])
    for kind, held in (absent or {}).items():
        spans = best_spans(reader, [_question(one) for one in held])
        figures[f"declined_{kind}"] = _share([span is None or margin(span) < 0 for span in spans])
    return figures


def _question(example: ReaderExample) -> GoldQuestion:
    answers = () if example.start is None else (example.answer,)
    return GoldQuestion(example.id, example.question, example.passage, answers)


def _share(which: Sequence[bool]) -> float:
    return 100 * sum(which) / len(which)
