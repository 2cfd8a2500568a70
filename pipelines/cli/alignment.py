"""What `search --explain` shows below a hit: the token that each token of the question matched."""

from __future__ import annotations

from spanwise.types import Hit, TokenMatch

from .terminal import visible

MARKER = "(marker)"  # a vector that stands for no words
WIDEST = 24


def alignment_lines(hit: Hit) -> list[str]:
    """A line for each token of the question, then the sum, in columns; none without an alignment."""
    if not hit.alignment:
        return []
    rows = [
        (_words(match.question), _words(match.text), f"{match.similarity:.4f}") for match in hit.alignment
    ]
    rows.append(("", "", f"{sum(match.similarity for match in hit.alignment):.4f}"))
    notes = [*map(_note, hit.alignment), "sum"]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        f"{asked:{widths[0]}}  {found:{widths[1]}}  {similarity:>{widths[2]}}  {note}".rstrip()
        for (asked, found, similarity), note in zip(rows, notes, strict=True)
    ]


def _words(words: str) -> str:
    shown = visible(" ".join(words.split())) or MARKER
    return shown if len(shown) <= WIDEST else shown[: WIDEST - 1] + "…"


def _note(match: TokenMatch) -> str:
    return "in a heading" if match.text and match.start < 0 else ""
