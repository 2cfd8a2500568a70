"""A passage with the proposed answer and the right ones marked, cut to what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...eval.questions import Evidence, QuestionRecord

AROUND = 160
MOST_PASSAGES = 3
MOST_MARKS = 12
Range = tuple[int, int]

_SPACE = r"\s+"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a passage, and whether the system proposed it and whether it is a right answer."""

    text: str
    proposed: bool = False
    gold: bool = False


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """A passage that was looked at: its rank among them, and its text in pieces."""

    rank: int
    evidence: Evidence
    right_document: bool
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class ShownPassages:
    """The passages to show, and how many there are besides."""

    passages: tuple[MarkedPassage, ...]
    others: int


def shown_passages(record: QuestionRecord) -> ShownPassages:
    """Each passage once; those with a proposed answer or with a right one are shown before the others."""
    found: dict[tuple[str, int, int], list[Evidence]] = {}
    for one in record.evidence:
        found.setdefault((one.document, one.start, one.end), []).append(one)
    passages = [_marked(rank, same, record) for rank, same in enumerate(found.values(), start=1)]

    def of_no_interest(passage: MarkedPassage) -> tuple[bool, bool]:
        gold = any(piece.gold for piece in passage.pieces)
        proposed = any(piece.proposed for piece in passage.pieces)
        return not proposed, not (gold and (passage.right_document or not record.documents))

    shown = sorted(passages, key=of_no_interest)[:MOST_PASSAGES]
    in_order = sorted(shown, key=lambda passage: passage.rank)
    return ShownPassages(tuple(in_order), len(passages) - len(shown))


def occurrences(golds: Iterable[str], text: str) -> list[Range]:
    """Where right answers stand in a text, whole words only, whatever the case and the white space.

    >>> occurrences(["the Mill"], "by the mill, the  mill, the miller")
    [(3, 11), (13, 22)]
    """
    found: set[Range] = set()
    for gold in golds:
        if words := gold.split():
            found.update(match.span() for match in _in_a_row(words).finditer(text))
    return sorted(found)[:MOST_MARKS]


def _in_a_row(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){_SPACE.join(map(re.escape, words))}(?!\w)", re.IGNORECASE)


def pieces(text: str, proposed: Sequence[Range], golds: Sequence[Range]) -> list[Piece]:
    """The whole text, cut wherever a mark begins or ends.

    >>> [(p.text, p.proposed, p.gold) for p in pieces("abcd", [(0, 2)], [(1, 3)])]
    [('a', True, False), ('b', True, True), ('c', False, True), ('d', False, False)]
    """
    cuts = sorted(
        {0, len(text), *(min(max(at, 0), len(text)) for mark in (*proposed, *golds) for at in mark)}
    )
    return [
        Piece(text[start:end], _inside(start, proposed), _inside(start, golds))
        for start, end in pairwise(cuts)
    ]


def _marked(rank: int, same: Sequence[Evidence], record: QuestionRecord) -> MarkedPassage:
    """One passage, with whatever was proposed in it."""
    first = same[0]
    proposed = [one.span for one in same if one.span is not None]
    cut = pieces(first.text, proposed, occurrences(record.golds, first.text))
    return MarkedPassage(rank, first, first.document in record.documents, tuple(_shortened(cut)))


def _shortened(cut: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, the unmarked ones without what is far from a mark, and no mark without end."""
    for i, piece in enumerate(cut):
        if piece.proposed or piece.gold:
            yield Piece(_ends(piece.text, 2 * AROUND, 2 * AROUND), piece.proposed, piece.gold)
        else:
            before, after = (0 if i == 0 else AROUND), (0 if i == len(cut) - 1 else AROUND)
            yield Piece(
                _ends(piece.text, before, after) if before or after else _ends(piece.text, 2 * AROUND, 0)
            )


def _ends(text: str, first: int, last: int) -> str:
    """The first and the last characters of a text, whole words, with a sign for those left out."""
    if len(text) <= first + last + 20:
        return text
    beginning, ending = text[:first].rsplit(None, 1), text[len(text) - last :].split(None, 1)
    return (
        f"{beginning[0] + ' ' if first and beginning else ''}…{' ' + ending[-1] if last and ending else ''}"
    )


def _inside(at: int, ranges: Sequence[Range]) -> bool:
    return any(start <= at < end for start, end in ranges)
