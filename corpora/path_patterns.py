"""Patterns that choose documents by their ids, in the language of `.spanwiseignore`.

A pattern chooses the documents that it matches and those below a folder that it matches. The last pattern
that does either decides, and one that starts with `!` leaves out. Matching takes time in proportion to the
path, whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from unicodedata import normalize

from .ignore import Rule, parse_rule


def path_matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Says of a document id whether at least one of the patterns chooses it; `ValueError` for a wrong one.

    The order of letter and accent in a name makes no difference. When the first pattern only leaves out,
    everything else is chosen.

    >>> chosen = path_matcher(["notes/", "!*.log"])
    >>> [chosen(name) for name in ("notes/a.md", "notes/old/b.log", "c.md")]
    [True, False, False]
    """
    rules = [_rule(pattern) for pattern in patterns]
    every = not rules or rules[0].negated

    @cache
    def folder(place: str) -> int:
        """The last rule that matches the folder or one above it, -1 for none."""
        if not place:
            return -1
        above = folder(place.rpartition("/")[0])
        return _last(rules, place, above, is_folder=True)

    def matches(document_id: str) -> bool:
        place = composed(document_id)
        above = folder(place.rpartition("/")[0])
        last = _last(rules, place, above, is_folder=False)
        return every if last < 0 else not rules[last].negated

    return matches


def _last(rules: Sequence[Rule], place: str, above: int, is_folder: bool) -> int:
    """The last rule behind `above` that matches the place, `above` when there is none."""
    if above == len(rules) - 1:
        return above
    names = place.split("/")
    behind = range(len(rules) - 1, above, -1)
    return next((number for number in behind if rules[number].matches(names, is_folder)), above)


def _rule(pattern: str) -> Rule:
    try:
        return parse_rule(composed(pattern.removeprefix("./")))
    except (ValueError, re.error) as error:
        raise ValueError(f"{pattern!r} is no pattern of paths such as 'notes/**': {error}") from None


def composed(name: str) -> str:
    """The name with letters and accents in one code point each, as far as there are such."""
    return name if name.isascii() else normalize("NFC", name)
