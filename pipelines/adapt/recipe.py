"""The settings of an adaptation, and about how long it takes."""

from __future__ import annotations

from dataclasses import dataclass

# Of two cores, in seconds: a pair that the teacher scores; a passage of a list that is learned from, there
# and back; a passage whose tokens are encoded.
_PAIR_S, _LEARNED_S, _ENCODED_S = 0.011, 0.035, 0.011
_LIST = 8  # passages of a list, of which the student learns from LEARNED
LEARNED = 4


@dataclass(frozen=True, slots=True)
class AdaptRecipe:
    """`questions` are made at most; `teacher` names the cross-encoder that scores their passages.

    `consistent`: a question stays only if its passage is among so many first ones by the teacher.
    An adapted model is installed when the difference of mrr@10 is above 0 with p below `level`.
    """

    questions: int = 2_000
    teacher: str = "builtin"
    seed: int = 0
    epochs: int = 2
    learning_rate: float = 5e-5
    consistent: int = 3
    level: float = 0.05

    def __post_init__(self) -> None:
        """Refuse numbers that adapt nothing."""
        if self.questions < 1 or self.epochs < 1 or self.consistent < 1:
            raise ValueError(
                f"{self.questions} questions, {self.epochs} epochs and the first {self.consistent} of the "
                "teacher: expected at least 1 of each"
            )
        if not 0 < self.level < 1 or not self.learning_rate > 0:
            raise ValueError(
                f"level {self.level} and learning rate {self.learning_rate}: expected (0, 1) and above 0"
            )


def estimated_minutes(recipe: AdaptRecipe, n_training: int, n_measured_passages: int, n_passages: int) -> int:
    """Minutes on two cores, rounded up: the teacher, the training, both measurements, and encoding anew.

    >>> estimated_minutes(AdaptRecipe(), 1_600, 5_000, 5_000)
    13
    """
    teaching = n_training * _LIST * _PAIR_S
    training = n_training * LEARNED * _LEARNED_S * recipe.epochs
    encoding = (2 * n_measured_passages + n_passages) * _ENCODED_S
    return int(-(-(teaching + training + encoding) // 60))
