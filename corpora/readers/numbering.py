"""Counts headings, clauses and list items as Word does: "3.2", "(b)", "Article IV"."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..archive import Element, attribute, setting
from .builder import whole

PLACE = re.compile("%([1-9])")
MAX_LEVELS = 9
MAX_PATTERN = 100  # characters
MAX_SIGNS = 780  # the last number that Word writes as letters
ROMANS = [term.split(":") for term in "d:500 cd:400 c:100 xc:90 l:50 xl:40 x:10 ix:9 v:5 iv:4 i:1".split()]


@dataclass(frozen=True, slots=True)
class NumberedList:
    """A list.

    levels: the form of its numbers by level, from 0.
    counts: the last number of each level; lists of the same definition share them.
    restarts: the counts before the first item; emptied by it.
    """

    levels: dict[int, Element]
    counts: dict[int, int]
    restarts: dict[int, int]


class Numbering:
    """The lists of a document with their counts; `root` is the part `numbering`."""

    def __init__(self, root: Element) -> None:
        definitions = root.iterfind("{*}abstractNum")
        levels = {attribute(element, "abstractNumId"): _levels(element) for element in definitions}
        counts: dict[str, dict[int, int]] = {name: {} for name in levels}
        self._lists: dict[str, NumberedList] = {}
        for element in root.iterfind("{*}num"):
            name = setting(element, "abstractNumId")
            restarts = {
                whole(attribute(override, "ilvl")): whole(start) - 1
                for override in element.iterfind("{*}lvlOverride")
                if (start := setting(override, "startOverride"))
            }
            own = levels.get(name, {}) | _levels(element.iterfind("{*}lvlOverride/{*}lvl"))
            self._lists[attribute(element, "numId")] = NumberedList(own, counts.get(name, {}), restarts)

    def next(self, number: str, depth: int) -> str:
        """The mark of the next item of a list: "-" for bullets and in unknown lists."""
        items = self._lists.get(number)
        if items is None or depth not in items.levels:
            return "-"
        level = items.levels[depth]
        counts = items.counts
        counts |= items.restarts
        items.restarts.clear()
        counts[depth] = counts.get(depth, _start(level) - 1) + 1
        for deeper in range(depth + 1, MAX_LEVELS):
            counts.pop(deeper, None)
        is_legal = setting(level, "isLgl", "1") == "1"

        def count(place: re.Match[str]) -> str:
            above = int(place[1]) - 1
            other = items.levels.get(above, level)
            return in_form(counts.get(above, _start(other)), "" if is_legal else setting(other, "numFmt"))

        if setting(level, "numFmt") == "bullet":
            return "-"
        return PLACE.sub(count, setting(level, "lvlText")[:MAX_PATTERN])


def _levels(elements: Iterable[Element]) -> dict[int, Element]:
    """The levels among some elements, from 0."""
    levels = {attribute(element, "ilvl"): element for element in elements}
    return {int(depth): level for depth, level in levels.items() if re.fullmatch("[0-8]", depth)}


def _start(level: Element) -> int:
    return whole(setting(level, "start", missing="1"))


def in_form(value: int, form: str) -> str:
    """A number in the form of a name, else in digits.

    >>> in_form(28, "lowerLetter"), in_form(14, "upperRoman"), in_form(7, "decimal")
    ('bb', 'XIV', '7')
    """
    letters = ""
    if form == "none":
        return ""
    if form == "decimalZero":
        return f"{value:02}"
    if form.endswith("Letter") and 0 < value <= MAX_SIGNS:
        letters = chr(ord("a") + (value - 1) % 26) * ((value + 25) // 26)
    elif form.endswith("Roman") and value <= MAX_SIGNS:
        for sign, worth in ROMANS:
            letters += sign * (value // int(worth))
            value %= int(worth)
    return (letters.upper() if form.startswith("upper") else letters) or str(value)
