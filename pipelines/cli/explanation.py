"""What `ask --explain` shows below an answer: the passage as the reader saw it, the evidence, the ranks.

A mark `[37%` stands before a token where the answer may begin, `42%]` behind one where it may end. At a
terminal with colours the tokens are shaded by the same probabilities; the marks are always there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..explain import Explanation
from ..explaining.explanation import TokenProbability, said_of
from .evidence import evidence_lines
from .search import place
from .terminal import show, visible

LEAST = 0.05  # of a probability that is marked
SHADES = ((0.5, "bold black on green"), (0.2, "black on cyan"), (LEAST, "underline"))

Part = str | tuple[str, str]


def show_explanation(explained: Explanation) -> None:
    """All of it; a line when there was nothing to explain."""
    if explained.weighed is None or explained.passage is None:
        show("\nno words were read, so there is nothing to explain")
        return
    passage = explained.passage
    what = "answer" if explained.answer.best else "best rejected words"
    show((f"\nthe {what} in {visible(place(passage))}, [begins and ends]", "dim"))
    show("  ", *shaded(passage.text, passage.start, explained.tokens))
    null = f"begin {explained.null_start:.0%}, end {explained.null_end:.0%}"
    show((f'  "no answer" in this passage: {null}', "dim"))
    show(("\nevidence: value x weight", "dim"))
    show(*evidence_lines(explained.weighed))
    if explained.formula is not None:
        show((f"    {said_of(explained.formula)}", "dim"))
    show((f"\nrank of the passage among those read: {explained.rank}; in the ranking of", "dim"))
    for rank in explained.ranks:
        found = "not found" if rank.rank is None else f"{rank.rank} of {rank.depth}"
        show(f"  {rank.stage}: {found}{'' if rank.score is None else f', score {rank.score:.4f}'}")
    for stage, score in explained.scores:
        if stage not in {rank.stage for rank in explained.ranks}:
            show(f"  {stage}: score {score:.4f}")


def shaded(text: str, shift: int, tokens: tuple[TokenProbability, ...]) -> Iterator[Part]:
    """The text in parts, tokens with marks and styles; their places are `shift` ahead of the text's."""
    at = 0
    for token in tokens:
        start, end = token.start - shift, token.end - shift
        if start < at or max(token.p_start, token.p_end) < LEAST:
            continue
        yield visible(text[at:start])
        before = f"[{token.p_start:.0%} " if token.p_start >= LEAST else ""
        behind = f" {token.p_end:.0%}]" if token.p_end >= LEAST else ""
        yield before + visible(text[start:end]) + behind, _style(max(token.p_start, token.p_end))
        at = end
    yield visible(text[at:])


def _style(probability: float) -> str:
    return next(style for least, style in SHADES if probability >= least)
