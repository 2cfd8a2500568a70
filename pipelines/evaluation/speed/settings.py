"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Settings:
    """All at least 1, apart from the seed. None is no limit.

    `paragraphs` limits the corpus; `vectors` limits it further, also in paragraphs, for the comparisons that
    start from vectors, which have to be computed first.
    """

    rounds: int = 5
    threads: int = 1
    k: int = 10
    paragraphs: int | None = None
    vectors: int | None = 4096
    questions: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse to measure nothing."""
        for name in (each.name for each in fields(self) if each.name != "seed"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}, expected at least 1")
