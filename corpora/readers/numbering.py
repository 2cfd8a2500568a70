"""Counts headings, clauses and list items as Word does: "3.2", "(b)", "Article IV"."""

import re
from collections.abc import Iterable

from ..archive import Element, attribute, setting

PLACE = re.compile("%([1-9])")
MAX_LEVELS = 9
MAX_LETTERS = 780  # the last number that Word writes as letters
MAX_ROMAN = 3999
ROMANS = [
    term.split(":")
    for term in "m:1000 cm:900 d:500 cd:400 c:100 xc:90 l:50 xl:40 x:10 ix:9 v:5 iv:4 i:1".split()
]


class Numbering:
    """The lists of a document with their counts; `root` is the part `numbering`."""

    def __init__(self, root: Element) -> None:
        definitions = root.iterfind("{*}abstractNum")
        levels = {attribute(definition, "abstractNumId"): _levels(definition) for definition in definitions}
        counts: dict[str, dict[int, int]] = {name: {} for name in levels}
        self._levels: dict[str, dict[int, Element]] = {}
        self._counts: dict[str, dict[int, int]] = {}  # lists of the same definition share them
        self._restarts: dict[str, dict[int, int]] = {}  # the counts before the first item
        for element in root.iterfind("{*}num"):
            number = attribute(element, "numId")
            name = setting(element, "abstractNumId")
            overrides = {
                whole(attribute(override, "ilvl")): override
                for override in element.iterfind("{*}lvlOverride")
            }
            self._levels[number] = levels.get(name, {}) | _levels(element.iterfind("{*}lvlOverride/{*}lvl"))
            self._counts[number] = counts.get(name, {})
            self._restarts[number] = {
                depth: whole(start) - 1
                for depth, override in overrides.items()
                if (start := setting(override, "startOverride"))
            }

    def next(self, number: str, depth: int) -> str:
        """The mark of the next item of a list: "-" for bullets and in unknown lists."""
        levels = self._levels.get(number, {})
        if depth not in levels:
            return "-"
        counts = self._counts[number]
        counts |= self._restarts.pop(number, {})
        counts[depth] = counts.get(depth, _start(levels[depth]) - 1) + 1
        for deeper in range(depth + 1, MAX_LEVELS):
            counts.pop(deeper, None)
        is_legal = setting(levels[depth], "isLgl", "1") == "1"

        def count(place: re.Match[str]) -> str:
            above = int(place[1]) - 1
            level = levels.get(above, levels[depth])
            return in_form(counts.get(above, _start(level)), "" if is_legal else setting(level, "numFmt"))

        is_bullet = setting(levels[depth], "numFmt") == "bullet"
        return "-" if is_bullet else PLACE.sub(count, setting(levels[depth], "lvlText"))


def _levels(elements: Iterable[Element]) -> dict[int, Element]:
    """The levels among some elements, from 0."""
    levels = {
        whole(attribute(element, "ilvl")): element for element in elements if attribute(element, "ilvl")
    }
    return {depth: level for depth, level in levels.items() if depth < MAX_LEVELS}


def _start(level: Element) -> int:
    return whole(setting(level, "start", missing="1"))


def whole(value: str) -> int:
    """The number in a setting, else 0."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 7 else 0


def in_form(value: int, form: str) -> str:
    """A number in the form of a name, else in digits.

    >>> in_form(28, "lowerLetter"), in_form(14, "upperRoman"), in_form(7, "decimal")
    ('bb', 'XIV', '7')
    """
    letters = ""
    if form.endswith("Letter") and 0 < value <= MAX_LETTERS:
        letters = chr(ord("a") + (value - 1) % 26) * ((value + 25) // 26)
    elif form.endswith("Roman") and value <= MAX_ROMAN:
        for sign, worth in ROMANS:
            count, value = divmod(value, int(worth))
            letters += sign * count
    elif form == "none":
        return ""
    return (
        letters.upper() if form.startswith("upper") else letters
    ) or f"{value:0{2 if form == 'decimalZero' else 1}}"
