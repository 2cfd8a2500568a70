"""Teacher's scores for every list: what a student is distilled from. An interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spanwise.types import ProgressCallback, RankingExample, no_progress

from ...corpora.ranking_examples import write_ranking_examples
from ...retrieval.protocol import Scorer
from .kept_scores import KeptScores

LISTS_AT_ONCE = 256
DIGITS = 4
SCORES = "scores.jsonl"


@dataclass(frozen=True, slots=True)
class Scored:
    """How many lists and pairs were scored, how many of the pairs were dropped as false negatives, and how
    often the teacher had a positive passage first.
    """

    lists: int
    pairs: int
    dropped: int
    first: int


def score_lists(
    examples: Sequence[RankingExample],
    scorer: Scorer,
    out: Path,
    report: ProgressCallback = no_progress,
    drop_within: float | None = None,
) -> Scored:
    """Writes the examples with scores as the ranking folder `out`; `report` hears how many are done.

    With `drop_within` a negative is left out that scores above the best positive minus so much: it may well
    answer the question. `out/scores.jsonl` receives the scores of every 256 lists, all of them: the same call
    goes on after an interruption, to the same result. ValueError when it holds those of other lists or by
    another teacher.
    """
    out.mkdir(parents=True, exist_ok=True)
    kept = KeptScores(out / SCORES, {"teacher": scorer.digest, "lists": _digest(examples)})
    found = kept.read([len(one.passages) for one in examples], LISTS_AT_ONCE)
    for at in range(len(found), len(examples), LISTS_AT_ONCE):
        report("scores", at, len(examples))
        batch = examples[at : at + LISTS_AT_ONCE]
        scores = scorer.score([one.question for one in batch], [one.passages for one in batch])
        found += kept.add([[round(float(value), DIGITS) for value in row] for row in scores])
    report("scores", len(examples), len(examples))
    scored = [replace(one, scores=tuple(row)) for one, row in zip(examples, found, strict=True)]
    left = [one if drop_within is None else without_false_negatives(one, drop_within) for one in scored]
    write_ranking_examples(out, left)
    pairs, remaining = (sum(len(one.passages) for one in many) for many in (scored, left))
    return Scored(len(scored), pairs, pairs - remaining, sum(map(positive_is_first, scored)))


def without_false_negatives(example: RankingExample, margin: float) -> RankingExample:
    """The example without the negatives that score above its best positive minus the margin.

    >>> without_false_negatives(RankingExample("q", ("a", "b", "c"), 1, (5.0, 4.5, 1.0)), 1.0).passages
    ('a', 'c')
    """
    n = example.n_positive
    highest = max(example.scores[:n]) - margin
    kept = [i for i, score in enumerate(example.scores) if i < n or score <= highest]
    passages, scores = tuple(example.passages[i] for i in kept), tuple(example.scores[i] for i in kept)
    return replace(example, passages=passages, scores=scores)


def shortened(example: RankingExample, n: int | None) -> RankingExample:
    """The example with its first `n` passages, of which all positives are kept; None for all.

    >>> shortened(RankingExample("q", ("a", "b", "c"), 1), 2).passages
    ('a', 'b')
    """
    n = len(example.passages) if n is None else max(n, example.n_positive)
    return replace(example, passages=example.passages[:n], scores=example.scores[:n])


def positive_is_first(example: RankingExample) -> bool:
    """Whether a positive scores above all others; equal scores count against it."""
    best = max(example.scores[: example.n_positive])
    return all(score < best for score in example.scores[example.n_positive :])


def _digest(examples: Sequence[RankingExample]) -> str:
    digest = hashlib.sha256()
    for one in examples:
        digest.update(json.dumps([one.question, one.passages, one.n_positive]).encode())
    return digest.hexdigest()
