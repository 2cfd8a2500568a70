"""What is compared: each name is one kind of work, in one unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Part = Literal["build", "search"]
Given = Literal["vectors", "tokens"]
Unit = Literal["ms/question", "passages/s", "s"]


FEW = 30  # where peers take long


@dataclass(frozen=True, slots=True)
class Comparison:
    """One kind of work: `part` of an engine is timed, over the whole corpus or a beginning of it.

    `given`: the engines are given a vector of each passage and question, or those of its tokens. `paragraphs`
    and `questions` limit what would take too long.
    """

    name: str
    part: Part
    unit: Unit
    about: str
    given: Given | None = None
    paragraphs: int | None = None
    questions: int | None = None

    def figure(self, seconds: float, n_passages: int) -> float:
        """The seconds of one build, or of one question, in the unit."""
        match self.unit:
            case "ms/question":
                return seconds * 1000
            case "passages/s":
                return n_passages / seconds
            case "s":
                return seconds


COMPARISONS = (
    Comparison(
        "bm25-index", "build", "passages/s", "from texts to an index that can be searched", paragraphs=8192
    ),
    Comparison("bm25-search", "search", "ms/question", "from a question to hits; ours have text and place"),
    Comparison("bm25-kernel", "search", "ms/question", "from a question to the numbers of passages alone"),
    Comparison("tfidf-search", "search", "ms/question", "from a question to hits; ours have text and place"),
    Comparison("dense-encode", "build", "passages/s", "from texts to vectors", paragraphs=64),
    Comparison("dense-index", "build", "passages/s", "from texts to a searchable dense index", paragraphs=64),
    Comparison(
        "dense-search", "search", "ms/question", "from a question to hits, encoding it", given="vectors"
    ),
    Comparison(
        "dense-kernel", "search", "ms/question", "from a question's vector to numbers", given="vectors"
    ),
    Comparison("maxsim-encode", "build", "passages/s", "from texts to vectors of tokens", paragraphs=64),
    Comparison(
        "maxsim-search",
        "search",
        "ms/question",
        "from a question to hits, encoding it",
        given="tokens",
        questions=FEW,
    ),
    Comparison(
        "maxsim-kernel",
        "search",
        "ms/question",
        "from a question's tokens to numbers; ours from 4 bits",
        given="tokens",
        questions=FEW,
    ),
    Comparison(
        "maxsim-exact",
        "search",
        "ms/question",
        "the same, all tokens compared; ours in int8",
        given="tokens",
        questions=FEW,
    ),
    Comparison("first-search", "search", "s", "a new process answers one question", questions=3),
)


def chosen(names: Sequence[str]) -> tuple[Comparison, ...]:
    """The comparisons of these names, or all; `ValueError` lists the names for one that is unknown."""
    known = {comparison.name: comparison for comparison in COMPARISONS}
    for name in names:
        if name not in known:
            raise ValueError(f"no comparison is called {name!r}, expected one of: {', '.join(known)}")
    return tuple(comparison for name, comparison in known.items() if not names or name in names)
