"""A small SQuAD-format data set of the tests, its predictions, and a reader that knows its answers."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spanwise.types import Passage, ScoredSpan, Span

CONTEXTS = {
    "The mill was built in 1811 by Ada Rook.": ("Who built the mill?", "Ada Rook"),
    "The tram was opened in 1903 by Ute Falk.": ("Who opened the tram?", "Ute Falk"),
    "The weir was raised in 1920 by Otto Brandt.": ("Who raised the weir?", "Otto Brandt"),
}
ANSWERS = {f"q{i}": answer for i, (_, answer) in enumerate(CONTEXTS.values())}


def small_squad(version: str) -> dict[str, Any]:
    """Three paragraphs with a question each, q0 to q2; in version 2.0 also one without answer, n0 to n2."""
    paragraphs = []
    for i, (context, (question, answer)) in enumerate(CONTEXTS.items()):
        answers = [{"text": answer, "answer_start": context.index(answer)}]
        qas: list[dict[str, Any]] = [{"id": f"q{i}", "question": question, "answers": answers}]
        if version == "2.0":
            qas[0]["is_impossible"] = False
            qas.append({"id": f"n{i}", "question": "Who sold it?", "answers": [], "is_impossible": True})
        paragraphs.append({"context": context, "qas": qas})
    return {"version": version, "data": [{"title": "Town", "paragraphs": paragraphs}]}


def written(path: Path, value: object) -> Path:
    """The path, with the value there as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


class Scripted:
    """Finds the right span everywhere; its null answer wins for "sold" and, by little, for the tram.

    `batches` holds the questions of each call. Without `answers_null` its null scores are NaN.
    """

    digest = "scripted"

    def __init__(self, answers_null: bool = True, stop_after: int | None = None) -> None:
        self.answers_null = answers_null
        self.stop_after = stop_after
        self.batches: list[list[str]] = []

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        if self.stop_after == len(self.batches):
            raise KeyboardInterrupt
        self.batches.append(list(questions))
        return [[self._spans(q, p) for p in group] for q, group in zip(questions, passages, strict=True)]

    def _spans(self, question: str, passage: Passage) -> list[ScoredSpan]:
        if passage.text not in CONTEXTS:
            return []
        answer = CONTEXTS[passage.text][1]
        start = passage.text.index(answer)
        score = -5.0 if "sold" in question else -0.5 if "tram" in question else 5.0
        null = 0.0 if self.answers_null else math.nan
        span = Span(passage.document_id, start, start + len(answer), answer)
        return [ScoredSpan(span, passage, score, null)]
