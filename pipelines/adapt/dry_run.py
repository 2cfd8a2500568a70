"""What an adaptation would ask, and about how long it would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanwise.errors import IndexEmpty

from .adapt import starting_model
from .made_question import MadeQuestion
from .make_questions import make_questions
from .measure import MOST_PASSAGES
from .recipe import AdaptRecipe, estimated_minutes

if TYPE_CHECKING:
    from ..library import Library


@dataclass(frozen=True, slots=True)
class Planned:
    """`questions` are those to train on, of `n_questions` in all."""

    questions: Sequence[MadeQuestion]
    n_questions: int
    minutes: int


def planned(library: Library, recipe: AdaptRecipe) -> Planned:
    """What `adapt` with this recipe would do; no model is loaded. Raises what `adapt` would raise."""
    starting_model(library)
    with library.reading() as snapshot:
        n_passages = snapshot.n_passages
        if not n_passages:
            raise IndexEmpty(f"{library.store.path} holds no passages; fill it with: {library.sync_command}")
        questions = make_questions(snapshot, library.analyzer, recipe.questions, recipe.seed)
    n_training, n_searched = len(questions.training), min(n_passages, MOST_PASSAGES)
    minutes = estimated_minutes(recipe, n_training, n_searched, n_passages)
    return Planned(questions.training, len(questions), minutes)
