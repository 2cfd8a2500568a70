"""The text of `ask --explain`: evidence by feature, ranks by stage, the fate of a document."""

from __future__ import annotations

from collections.abc import Sequence

from ..explain import DocumentFate, Explanation, StageRank
from .evidence import evidence_lines
from .search import place
from .terminal import show, visible


def show_explanation(explanation: Explanation) -> None:
    """Print everything below an answer; a line when no span was read."""
    best = explanation.best
    if best is None:
        show("\nno span was read, so there is nothing to explain")
    else:
        what = "answer" if explanation.answer.best else "nearest span"
        show((f"\nthe {what} in {visible(place(best.passage))}; evidence: value x weight", "dim"))
        show(*evidence_lines(best))
        if explanation.formula is not None:
            show((f"    {explanation.formula}", "dim"))
        show((f"\nrank of the passage among the hits: {explanation.rank}; in the ranking of", "dim"))
        _show_ranks(explanation.ranks)
        for stage, score in explanation.scores:
            if stage not in {rank.stage for rank in explanation.ranks}:
                show(f"  {stage}: score {score:.4f}")
    if explanation.document is not None:
        _show_fate(explanation.document)


def _show_fate(fate: DocumentFate) -> None:
    show((f"\n{visible(fate.document)}: {fate.stage}", "bold"))
    show(f"  {visible(fate.reason)}")
    if fate.advice:
        show(f"  {visible(fate.advice)}")
    _show_ranks(fate.ranks)
    if fate.best is not None:
        show(*evidence_lines(fate.best))


def _show_ranks(ranks: Sequence[StageRank]) -> None:
    for rank in ranks:
        found = "not found" if rank.rank is None else f"{rank.rank} of {rank.depth}"
        show(f"  {rank.stage}: {found}{'' if rank.score is None else f', score {rank.score:.4f}'}")
