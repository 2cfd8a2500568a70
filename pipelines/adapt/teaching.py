"""What an adaptation has done by others: scores by a teacher, and the training of the student."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.types import ProgressCallback, RankingExample

from ...retrieval.protocol import Scorer
from .recipe import LEARNED, AdaptRecipe

Score = Callable[[Sequence[RankingExample], Scorer, Path, ProgressCallback], object]
Train = Callable[
    [Sequence[RankingExample], Sequence[RankingExample], Path, AdaptRecipe, str, ProgressCallback], object
]


def load_teacher(name: str) -> Scorer:
    """The cross-encoder of that name; ModelNotFound or ModelRejected when it cannot be had."""
    from ...models.cross_encoder import load_cross_encoder

    teacher: Scorer = load_cross_encoder(name)
    return teacher


def score(examples: Sequence[RankingExample], teacher: Scorer, out: Path, report: ProgressCallback) -> object:
    """Writes the lists with the teacher's scores to a folder; goes on where it was interrupted."""
    from ..training.score import score_lists

    return score_lists(examples, teacher, out, report)


def train(
    examples: Sequence[RankingExample],
    held_out: Sequence[RankingExample],
    out: Path,
    recipe: AdaptRecipe,
    start: str,
    report: ProgressCallback,
) -> object:
    """Trains the student of tokens from `start` on, into `out`; goes on where it was interrupted."""
    from ...models.training import Recipe
    from ...retrieval.training.student import StudentRecipe
    from ..training.train_student import train_student

    loop = Recipe(
        learning_rate=recipe.learning_rate, seed=recipe.seed, checkpoint_every=50, evaluate_at=(0.5, 1.0)
    )
    settings = StudentRecipe(loop=loop, epochs=recipe.epochs, negatives=LEARNED - 1, dense=0.0)

    def told(progress: Any) -> None:
        report("steps", progress.step, progress.steps)

    return train_student(examples, held_out, out, settings, start=start, report=told)


@dataclass(frozen=True, slots=True)
class Teaching:
    """The three as one; others may stand in for them."""

    load: Callable[[str], Scorer] = load_teacher
    score: Score = score
    train: Train = train


def consistent(examples: Iterable[RankingExample], first: int) -> Iterator[RankingExample]:
    """The examples whose passage the teacher ranks among the `first` ones: the others ask for something else.

    Source: Alberti et al., "Synthetic QA Corpora Generation with Roundtrip Consistency", ACL 2019; theirs
    compares answers, ours ranks.
    """
    for one in examples:
        own, *others = one.scores
        if sum(score >= own for score in others) < first:
            yield one
