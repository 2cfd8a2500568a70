"""What must be said about a PDF's pages, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from .pdf_pages import Page


def remark_on(pages: Sequence[Page]) -> str:
    """The pages' remarks: "without text (scanned?): pages 3 and 7 to 9 of 12", or the empty string."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages, start=1):
        if page.remark:
            numbers[page.remark].append(number)
    return "; ".join(f"{remark}: {_name(of_it, len(pages))}" for remark, of_it in numbers.items())


def _name(numbers: Sequence[int], n_pages: int) -> str:
    if len(numbers) == n_pages:
        return "its only page" if n_pages == 1 else f"all {n_pages} pages"
    *listed, last = _folded(numbers)
    pages = f"{', '.join(listed)} and {last}" if listed else last
    return f"page{'' if len(numbers) == 1 else 's'} {pages} of {n_pages}"


def _folded(numbers: Sequence[int]) -> Iterator[str]:
    """The numbers in words, three or more in a row as a range: "3", "7 to 9"."""
    start = 0
    for i, number in enumerate(numbers):
        if i + 1 == len(numbers) or numbers[i + 1] != number + 1:
            if i - start >= 2:
                yield f"{numbers[start]} to {number}"
            else:
                yield from map(str, numbers[start : i + 1])
            start = i + 1
