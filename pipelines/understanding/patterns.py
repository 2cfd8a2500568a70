"""The patterns and word lists of `patterns.toml`, by the name of their entry: "limits.at_least"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

FILE = "patterns.toml"
REFERENCE = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)?)\}")
NOTHING = re.compile(r"(?!)")

Entries = Mapping[str, Mapping[str, Any]]


@cache
def entries() -> dict[str, dict[str, Any]]:
    """All entries by name."""
    text = (files(__package__) / FILE).read_text(encoding="utf-8")
    families: Mapping[str, Entries] = tomllib.loads(text)
    return {
        f"{family}.{name}": dict(entry) for family, rules in families.items() for name, entry in rules.items()
    }


def words(name: str) -> tuple[str, ...]:
    """The words or phrases of an entry, in their order; none for an entry that is not there."""
    entry = entries().get(name, {})
    return tuple(entry["phrases"].split("|") if "phrases" in entry else entry.get("words", "").split())


def mapping(name: str) -> dict[str, str]:
    """The value of each row of an entry, by its first column."""
    return dict(entries().get(name, {}).get("map", ()))


def source(name: str, **parts: str) -> str:
    """The pattern of an entry with its references resolved, `parts` by their names first."""
    entry = entries().get(name, {"pattern": NOTHING.pattern})
    if "pattern" not in entry:
        return "|".join(map(re.escape, words(name)))
    return _resolved(entry["pattern"], parts)


def pattern(name: str, **parts: str) -> re.Pattern[str]:
    """The compiled pattern of an entry; one that matches nothing for an entry that is not there."""
    return re.compile(source(name, **parts), _flags(name))


def _resolved(lines: str | list[str], parts: Mapping[str, str]) -> str:
    whole = lines if isinstance(lines, str) else "".join(lines)
    return REFERENCE.sub(lambda match: parts.get(match[1]) or source(match[1]), whole)


def _flags(name: str) -> re.RegexFlag:
    entry = entries().get(name, {})
    any_case = re.I if entry.get("any_case") else re.NOFLAG
    return any_case | (re.S if entry.get("dot_all") else re.NOFLAG)
