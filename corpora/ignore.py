"""Ignore rules of `.spanwiseignore` files and path patterns, in the language of .gitignore (pathspec)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from pathspec import GitIgnoreSpec, PathSpec

IGNORE_FILE = ".spanwiseignore"
# pathspec's expressions backtrack: every further wildcard multiplies the time by the length of the path.
MAX_STARS = 3  # in one name of a rule
MAX_DOUBLE_STARS = 2  # in one rule


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force in one folder: those of its own file, then those of the folders above.

    What lies below an ignored folder is never met, so no `!` rule takes it back.
    """

    folder: str
    spec: GitIgnoreSpec
    above: IgnoreRules | None = None

    def ignores(self, place: str, is_folder: bool) -> bool:
        """True when the entry at this path below the root is ignored."""
        path = place[len(self.folder) :] + "/" * is_folder
        ignored = self.spec.check_file(path).include
        if ignored is None:
            return self.above is not None and self.above.ignores(place, is_folder)
        return ignored


def read_rules(data: bytes, folder: str, above: IgnoreRules | None) -> tuple[IgnoreRules, list[str]]:
    """The rules in the bytes of an ignore file, and a complaint for each wrong line.

    Bytes that are not UTF-8 match names that hold the same bytes.
    """
    lines, complaints = [], []
    for number, line in enumerate(os.fsdecode(data.removeprefix(b"\xef\xbb\xbf")).split("\n"), 1):
        rule = line.removesuffix("\r")
        try:
            if rule.strip() and not rule.startswith("#"):
                _check(rule)
                lines.append(rule)
        except ValueError as error:
            complaints.append(f"line {number} is not a rule: {error}")
    return IgnoreRules(folder, GitIgnoreSpec.from_lines(lines), above), complaints


def path_matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A function that tells whether the patterns choose a document id; `ValueError` for a wrong pattern.

    A pattern chooses the documents that it matches and those below a folder that it matches. The last pattern
    that does either decides; `!` leaves out. When the first pattern leaves out, everything else is chosen.

    >>> chosen = path_matcher(["notes/", "!*.log"])
    >>> [chosen(name) for name in ("notes/a.md", "notes/old/b.log", "c.md")]
    [True, False, False]
    """
    rules = [composed(pattern.removeprefix("./")) for pattern in patterns]
    for rule in rules:
        try:
            _check(rule)
        except ValueError as error:
            raise ValueError(f"{rule!r} is not a path pattern: {error}. Write it like 'notes/**'") from None
    spec = PathSpec.from_lines("gitignore", rules)
    default = not rules or rules[0].startswith("!")

    def matches(document_id: str) -> bool:
        chosen = spec.check_file(composed(document_id)).include
        return default if chosen is None else chosen

    return matches


def composed(name: str) -> str:
    """The name with each letter and its accents in one code point, as far as Unicode has one."""
    return name if name.isascii() else normalize("NFC", name)


def _check(rule: str) -> None:
    """Raises `ValueError` for a rule that pathspec refuses or that could take long to match."""
    names = rule.removeprefix("!").strip().removesuffix("/").removeprefix("/").split("/")
    if "" in names:
        raise ValueError("an empty name")
    if any(re.sub(r"\\.", "", name).count("*") > MAX_STARS for name in names if name != "**"):
        raise ValueError(f"more than {MAX_STARS} '*' in one name")
    if names.count("**") > MAX_DOUBLE_STARS:
        raise ValueError(f"more than {MAX_DOUBLE_STARS} '**'")
    GitIgnoreSpec.from_lines([rule])
