"""Words of a text replaced by others, with exact places on both sides.

A word is a longest run of letters, digits and underscores as Unicode has them, so that a name inside another
word stays ("Ann" in "Annex", "Teslas"); "Tesla's" and "Tesla-based" hold the word "Tesla". Case counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

NAME_WORD = re.compile(r"\w+")
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a word stood, and where the one in its place stands; half-open, in code points."""

    start: int
    end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class Swapped:
    """A text after its words were replaced, and the places of these, from left to right."""

    text: str
    places: tuple[Place, ...]

    def span(self, start: int, end: int) -> Range | None:
        """Where [start, end) of the text before stands now; None when it cuts a replaced word."""
        moved = self._moved(start), self._moved(end)
        return None if None in moved else (moved[0] or 0, moved[1] or 0)

    def before(self, start: int, end: int) -> Range:
        """Where [start, end) stood before; what cuts a replaced word is widened to the whole of it."""
        return self._origin(start, begins=True), self._origin(end, begins=False)

    def _moved(self, at: int) -> int | None:
        shift = 0
        for place in self.places:
            if at <= place.start:
                break
            if at < place.end:
                return None
            shift = place.new_end - place.end
        return at + shift

    def _origin(self, at: int, begins: bool) -> int:
        shift = 0
        for place in self.places:
            if at <= place.new_start:
                break
            if at < place.new_end:
                return place.start if begins else place.end
            shift = place.end - place.new_end
        return at + shift


def swap(text: str, names: Mapping[str, str]) -> Swapped:
    """The text with each word of `names` replaced wherever it stands.

    >>> swap("Ada's annex: Ada built it.", {"Ada": "Fatima"}).text
    "Fatima's annex: Fatima built it."
    """
    parts: list[str] = []
    places: list[Place] = []
    last = length = 0
    for match in NAME_WORD.finditer(text):
        name = names.get(match[0])
        if name is not None:
            parts += [text[last : match.start()], name]
            new_start = length + match.start() - last
            places.append(Place(match.start(), match.end(), new_start, new_start + len(name)))
            last, length = match.end(), new_start + len(name)
    return Swapped("".join([*parts, text[last:]]), tuple(places))
