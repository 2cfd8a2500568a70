"""From the rankings of an index to hits that hold their passages."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.types import Hit

from ..index import Snapshot
from ..index.protocol import Ranking


def check_questions(questions: Sequence[str], k: int) -> None:
    """Refuse what no retriever can search for: k below 1, a question of white space."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    for question in questions:
        if not question.strip():
            raise ValueError(f"the question is empty: {question!r}")


def hits_of(rankings: Sequence[Ranking], snapshot: Snapshot, stage: str) -> list[list[Hit]]:
    """Rankings as hits, with each passage read once for all questions; `stage` names the score."""
    wanted = sorted({number for ranking in rankings for number in ranking.passage_ids.tolist()})
    passages = dict(zip(wanted, snapshot.found(wanted), strict=True))
    return [
        [
            Hit(passages[number], score, rank, {stage: score})
            for rank, (number, score) in enumerate(
                zip(ranking.passage_ids.tolist(), ranking.scores.tolist(), strict=True), start=1
            )
        ]
        for ranking in rankings
    ]
