"""Parts of a page that were drawn before what stands above them, put below it.

Some programs draw a page's footnotes first or its headings last. Where what is drawn falls into parts, one
after the other, each of which lies wholly above the one before and shares some of its width, their order is
turned round; the same is then done inside the parts. Columns stand beside each other and are left in the
order drawn, as is all that lies closer than two lines: powers, fractions, sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from .pdf_pages import Line

APART = 24.0  # points: about two lines
MAX_LINES = 2_000  # a page with more is left as it was drawn
MAX_DEPTH = 8


def in_reading_order(lines: Sequence[Line], depth: int = MAX_DEPTH) -> list[Line]:
    """The same lines, those that were drawn too early below what stands above them."""
    if not 2 <= len(lines) <= MAX_LINES or depth == 0:
        return list(lines)
    parts = _split(lines, _cuts([-line.height for line in lines], 0.0))
    if len(parts) == 1:
        cuts = _cuts([line.height for line in lines], APART)
        parts = _split(lines, [cut for cut in cuts if _share_width(lines[:cut], lines[cut:])])[::-1]
    if len(parts) == 1:
        return list(lines)
    return [line for part in parts for line in in_reading_order(part, depth - 1)]


def _cuts(heights: Sequence[float], apart: float) -> list[int]:
    """Where all heights that follow lie more than `apart` above all that came before."""
    highest = list(accumulate(heights, max))
    lowest = list(accumulate(reversed(heights), min))[::-1]
    return [i for i in range(1, len(heights)) if lowest[i] - highest[i - 1] > apart]


def _split(lines: Sequence[Line], cuts: Sequence[int]) -> list[Sequence[Line]]:
    return [lines[start:end] for start, end in pairwise([0, *cuts, len(lines)])]


def _share_width(some: Sequence[Line], others: Sequence[Line]) -> bool:
    left = max(min(line.left for line in some), min(line.left for line in others))
    return left < min(max(line.right for line in some), max(line.right for line in others))
