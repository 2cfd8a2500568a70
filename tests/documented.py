"""What the pages of the documentation show: the commands in their code blocks, and what these print.

An indented line `spanwise …`, or `$ spanwise …`, is a command, also where a backslash carries it on. A fenced
block `console` holds commands that run as they stand, each followed by what it prints: a line `…` stands for
any lines, `…` inside a line for anything, and numbers may differ a little, as processors round differently.
A fenced block `python` runs, too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]{1,200})\)")
HEADING = re.compile(r"#{1,6} (.{1,200})")
NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
COMMAND = re.compile(r"spanwise \S")
ANYTHING = "…"
CLOSE = 0.1  # numbers with a fraction or a per cent sign behind them
POINTS = 4.0  # such numbers may differ by so much in any case: points of per cent, hundredths of a score


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the number of its first line, and its lines."""

    language: str
    line: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """A command, and the lines that it is said to print."""

    command: str
    printed: tuple[str, ...]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    language, first, held = "", 0, list[str]()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            held.append(line)
        elif first:
            yield Block(language, first, tuple(held))
            first = 0
        else:
            language, first, held = line[3:].strip(), number, []


def commands(page: Path) -> Iterator[tuple[int, list[str]]]:
    """The line and the arguments of each `spanwise` command that a page shows, without redirections."""
    lines = page.read_text(encoding="utf-8").splitlines()
    fenced = False
    for at, line in enumerate(lines):
        fenced ^= line.startswith("```")
        text, last = line.strip().removeprefix("$ "), at
        if not COMMAND.match(text) or not (fenced or line.startswith(("    ", "$ "))):
            continue
        while text.endswith("\\"):
            last += 1
            text = text[:-1] + lines[last].strip()
        for one in text.split("; "):
            if one.startswith("spanwise "):
                yield at + 1, shlex.split(one.split(" <")[0], comments=True)[1:]


def broken_links(page: Path) -> list[str]:
    """The links of a page to files and headings that are not there."""
    links = LINK.findall(page.read_text(encoding="utf-8"))
    return [link for link in links if "://" not in link and not _leads_somewhere(page, link)]


def _leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in anchors(target))


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as the usual viewers make them."""
    found = map(HEADING.match, page.read_text(encoding="utf-8").splitlines())
    titles = [match[1].lower() for match in found if match]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def shown(block: Block) -> list[Shown]:
    """The commands of a `console` block with what they print."""
    found: list[tuple[str, list[str]]] = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return [Shown(command, tuple(printed)) for command, printed in found]


def agree(expected: tuple[str, ...], printed: list[str]) -> bool:
    """Whether the lines printed are those expected, blank ones apart.

    >>> agree(("a", "…", "d 74%"), ["a", "b", "c", "d 73%"]), agree(("a",), ["a", "b"])
    (True, False)
    """
    wanted, found = [line for line in expected if line.strip()], [line for line in printed if line.strip()]
    if not wanted:
        return not found
    if wanted[0] == ANYTHING:
        return any(agree(tuple(wanted[1:]), found[at:]) for at in range(len(found) + 1))
    return bool(found) and _alike(wanted[0], found[0]) and agree(tuple(wanted[1:]), found[1:])


def _alike(expected: str, printed: str) -> bool:
    """Whether two lines are alike: the pieces around … in order, first and last in their places."""
    parts = NUMBER.split(expected)
    pattern = "".join(r"(\d+(?:\.\d+)?)" if at % 2 else _literal(part) for at, part in enumerate(parts))
    match = re.fullmatch(pattern, printed.rstrip())
    if match is None:
        return False
    ends = [*parts[2::2]]
    return all(
        _near(one, other, end) for one, other, end in zip(parts[1::2], match.groups(), ends, strict=True)
    )


def _literal(text: str) -> str:
    return ".*".join(re.escape(piece) for piece in text.rstrip("\n").split(ANYTHING))


def _near(one: str, other: str, end: str) -> bool:
    """Whether two numbers are the same, or near enough for those that are computed in floating point."""
    if one == other:
        return True
    if "." not in one and not end.startswith("%"):
        return False
    slack = POINTS if end.startswith("%") else 0.3
    return abs(float(one) - float(other)) <= max(CLOSE * float(one), slack)
