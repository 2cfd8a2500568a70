"""Ignore rules as git knows them, read from `.spanwiseignore` files.

A rule is matched against one entry at a time: against its name, or against its path below the folder of the
rule when the rule holds a slash. The file of an inner folder goes before those above it, and within a file
the last rule that matches decides. What lies below an ignored folder is never met, so no `!` rule takes it
back. Matching takes time in proportion to the path, whatever the rule. Named classes (`[[:alpha:]]`) are
left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate

NAME = ".spanwiseignore"
ANY_FOLDERS = None  # the part `**`: any number of folders, also none
NOTHING = re.compile("(?!)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file; `parts` are matched with the parts of a path, one by one."""

    parts: tuple[re.Pattern[str] | None, ...]
    negated: bool
    folders_only: bool
    text: str

    def matches(self, names: Sequence[str], is_folder: bool) -> bool:
        """True for the entry with this path below the folder of the rule."""
        return (is_folder or not self.folders_only) and _matches(self.parts, names)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force in one folder: those of its own file, then those of the folders above."""

    folder: str
    rules: tuple[Rule, ...]
    above: IgnoreRules | None = None

    def ignores(self, place: str, is_folder: bool) -> bool:
        """True when the entry at this path below the root is ignored."""
        decided = self.deciding(place, is_folder)
        return decided is not None and not decided[1].negated

    def deciding(self, place: str, is_folder: bool) -> tuple[str, Rule] | None:
        """The rule that decides on that entry, after the folder whose file holds it; None without any."""
        names = place[len(self.folder) :].split("/")
        for rule in reversed(self.rules):
            if rule.matches(names, is_folder):
                return self.folder, rule
        return self.above.deciding(place, is_folder) if self.above is not None else None


def parse_rules(data: bytes) -> tuple[tuple[Rule, ...], list[str]]:
    """The rules in the bytes of an ignore file, and a complaint for each line that is none.

    Bytes that are not UTF-8 match names that hold the same bytes.
    """
    rules: list[Rule] = []
    complaints: list[str] = []
    for number, line in enumerate(os.fsdecode(data.removeprefix(b"\xef\xbb\xbf")).split("\n"), 1):
        text = _without_trailing_spaces(line.removesuffix("\r"))
        if not text or text.startswith("#"):
            continue
        try:
            rules.append(parse_rule(text))
        except (ValueError, re.error) as error:
            complaints.append(f"line {number} is no rule: {error}")
    return tuple(rules), complaints


def _without_trailing_spaces(line: str) -> str:
    """The line without the spaces at its end; one behind a backslash stays."""
    text = line.rstrip(" ")
    return text + " " if text.endswith("\\") and len(text) < len(line) else text


def parse_rule(text: str) -> Rule:
    """The rule in a line that is neither empty nor a comment; `ValueError` when it can match nothing."""
    pattern = text.removeprefix("!")
    names = pattern.removesuffix("/").removeprefix("/").split("/")
    if "" in names:
        raise ValueError("a name in it is empty")
    parts = [ANY_FOLDERS if name == "**" else re.compile(translate(_unescaped(name))) for name in names]
    if "/" not in pattern.removesuffix("/"):
        parts = [ANY_FOLDERS, *parts]
    if parts[-1] is ANY_FOLDERS:  # everything below, not the folder itself
        parts.append(re.compile(""))
    return Rule(tuple(parts), text.startswith("!"), pattern.endswith("/"), text)


def _unescaped(name: str) -> str:
    """The name in the spelling of `fnmatch`, which knows no backslash."""
    if re.search(r"(?<!\\)(\\\\)*\\$", name):
        raise ValueError("it ends with a backslash")
    plain = re.sub(r"\\(.)", lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], name)
    return plain.replace("[^", "[!")


def _matches(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Wild card matching that goes back to the last `**` only, which is enough."""
    if len(parts) == 2 and parts[0] is ANY_FOLDERS and (last := parts[1]):
        return last.match(names[-1]) is not None
    at, retry_part, retry_name, i = 0, -1, 0, 0
    while i < len(names):
        part = parts[at] if at < len(parts) else NOTHING
        if part is None:
            retry_part, retry_name = at, i
            at += 1
        elif part.match(names[i]):
            at, i = at + 1, i + 1
        elif retry_part >= 0:
            retry_name += 1
            at, i = retry_part + 1, retry_name
        else:
            return False
    return at == len(parts)
