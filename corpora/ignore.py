"""Rules of `.spanwiseignore` files and path patterns, in the syntax of .gitignore; read by pathspec."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast
from unicodedata import normalize

from pathspec import PathSpec, RegexPattern

IGNORE_FILE = ".spanwiseignore"
# The expressions of pathspec backtrack: each wildcard multiplies the time by the length of the path.
MAX_STARS = 3  # in one name of a rule
MAX_WILDCARDS = 4  # "*" and "**" in one rule


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that apply in one folder. Its own rules count before those of the folders above.

    An ignored folder is never entered, so no `!` rule brings back an entry in it.

    folder: its path below the root, which ends with a slash.
    patterns: the expressions in order, and whether each ignores (True) or brings back.
    above: the rules of the folder above.
    """

    folder: str
    patterns: tuple[tuple[re.Pattern[str], bool], ...]
    above: IgnoreRules | None = None

    def ignores(self, place: str, is_folder: bool) -> bool:
        """True when the entry at this path below the root is ignored."""
        path = place[len(self.folder) :] + "/" * is_folder
        for pattern, ignored in reversed(self.patterns):
            # The whole path must match: a rule of pathspec for a folder also matches the files in it.
            # Its expressions for "*" and "*/" are just "." and "/".
            if pattern.pattern == "." or (pattern.pattern == "/" and is_folder) or pattern.fullmatch(path):
                return ignored
        return self.above is not None and self.above.ignores(place, is_folder)


def read_rules(data: bytes, folder: str, above: IgnoreRules | None) -> tuple[IgnoreRules, list[str]]:
    """The rules in the bytes of an ignore file, and a message for each wrong line.

    Bytes that are not UTF-8 match names that hold the same bytes.
    """
    lines: list[str] = []
    complaints: list[str] = []
    for number, line in enumerate(os.fsdecode(data.removeprefix(b"\xef\xbb\xbf")).split("\n"), 1):
        rule = line.removesuffix("\r")
        try:
            if rule.strip() and not rule.startswith("#"):
                lines.append(_checked(rule))
        except ValueError as error:
            complaints.append(f"line {number} is not a rule: {error}")
    rules = cast(Sequence[RegexPattern], PathSpec.from_lines("gitignore", lines).patterns)
    patterns = ((rule.regex, bool(rule.include)) for rule in rules if rule.regex is not None)
    return IgnoreRules(folder, tuple(patterns), above), complaints


def path_matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A predicate that is true for the document ids that the patterns select.

    A pattern matches documents, and all documents in a folder that it matches. The last pattern that matches
    decides; with `!` it excludes. If the first pattern excludes, all other documents are selected.
    `ValueError` for a wrong pattern.

    >>> chosen = path_matcher(["notes/", "!*.log"])
    >>> [chosen(name) for name in ("notes/a.md", "notes/old/b.log", "c.md")]
    [True, False, False]
    """
    rules = []
    for pattern in patterns:
        try:
            rule = composed(pattern.removeprefix("./"))
            # "notes/*" of pathspec does not match the files in the folders that it matches.
            rules.append(_checked(f"{rule}*" if rule.endswith("/*") else rule))
        except ValueError as error:
            raise ValueError(f"{pattern!r} is not a path pattern: {error}. Example: 'notes/**'") from None
    spec = PathSpec.from_lines("gitignore", rules)
    default = not rules or rules[0].startswith("!")

    def matches(document_id: str) -> bool:
        chosen = spec.check_file(composed(document_id)).include
        return default if chosen is None else chosen

    return matches


def composed(name: str) -> str:
    """The name in Unicode form NFC, where a letter and its accents are one code point if possible."""
    return name if name.isascii() else normalize("NFC", name)


def _checked(rule: str) -> str:
    """The rule; `ValueError` if pathspec refuses it, or matching could be slow."""
    names = rule.removeprefix("!").strip().removesuffix("/").removeprefix("/").split("/")
    if "" in names:
        raise ValueError("an empty name")
    stars = [1 if name == "**" else re.sub(r"\\.", "", name).count("*") for name in names]
    if max(stars) > MAX_STARS or sum(stars) > MAX_WILDCARDS:
        raise ValueError(f"more than {MAX_STARS} '*' in one name or {MAX_WILDCARDS} in all")
    if names[-1] == "**":  # git: the entries of a folder; pathspec: the folder as well
        rule = rule.removesuffix("/") + "/*" + "/" * rule.endswith("/")
    PathSpec.from_lines("gitignore", [rule])
    return rule
