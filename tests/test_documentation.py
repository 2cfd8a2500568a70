"""The documentation says what the program does: commands are known, links lead somewhere, output is as shown.

A fenced block `console` holds commands that run as they stand, each followed by what it prints: a line `…`
stands for any lines, `…` inside a line for anything; numbers with a fraction or a per cent sign may differ. A
fenced block `python` runs, too.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

import spanwise
from spanwise.pipelines.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "corpora" / "sample"
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("models/weights/*/README.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:    |\$ )+(spanwise \S.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]{1,200})\)")
HEADING = re.compile(r"^#{1,6} (.{1,200})$", re.MULTILINE)
PLACEHOLDER = re.compile(r"^…\n|…|\d+\.\d+|\d+(?=%)", re.MULTILINE)
UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "UsageError")


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each `spanwise` command that a page shows, without redirections and comments."""
    for line in COMMAND.findall(text.replace("\\\n", " ")):
        for command in line.split("; "):
            if command.startswith("spanwise "):
                yield shlex.split(command.split(" <")[0], comments=True)[1:]


def complaint(words: list[str]) -> str:
    """What is wrong with the arguments of a command, paths and the shell's variables apart; "" if nothing."""
    command, context, rest = get_command(app), None, words
    try:
        while hasattr(command, "get_command"):
            context = command.make_context("spanwise", rest[:1], parent=context, resilient_parsing=True)
            found = command.get_command(context, rest[0])
            if found is None:
                return f"{rest[0]} is no command"
            command, rest = found, rest[1:]
        command.make_context(words[0], rest, parent=context)
    except UsageError as error:
        message = str(error.format_message())
        return "" if "does not exist" in message or "$" in message else message
    return ""


def is_broken(page: Path, link: str) -> bool:
    """Whether a link leads to no file or heading of the documentation."""
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    if "://" in link or not anchor:
        return "://" not in link and not target.exists()
    titles = HEADING.findall(target.read_text(encoding="utf-8").lower())
    return anchor not in {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def pattern_of(shown: str) -> str:
    """The regular expression of what a block shows."""
    found, at = "", 0
    for match in PLACEHOLDER.finditer(shown):
        any_of = {"…\n": r"(?:.*\n)*?", "…": ".*"}.get(match[0], r"\d+(?:\.\d+)?")
        found += re.escape(shown[at : match.start()]) + any_of
        at = match.end()
    return found + re.escape(shown[at:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_are_known_and_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert {" ".join(words): wrong for words in commands(text) if (wrong := complaint(words))} == {}
    assert [link for link in LINK.findall(text) if is_broken(page, link)] == []


def test_an_error_in_a_page_is_noticed() -> None:
    assert list(commands("    spanwise ask 'who?' \\\n  --reader x <q.txt")) == [
        ["ask", "who?", "--reader", "x"]
    ]
    assert complaint(["ask", "who?", "--no-such-option"])
    assert complaint(["no-such-verb"])
    assert is_broken(README, "docs/nothing.md")
    assert is_broken(README, "#nothing")
    assert not re.fullmatch(pattern_of("a 0.5\n…\nb\n"), "a 0.7\nx\ny\nc\n")
    assert re.fullmatch(pattern_of("a 0.5\n…\nb\n"), "a 0.7\nx\ny\nb\n")


@pytest.mark.reliability
def test_the_readme_shows_what_is_seen(tmp_path: Path) -> None:
    """Its blocks run in their order: a later one may rest on an earlier one."""
    shutil.copytree(SAMPLE / "docs", tmp_path / "notes")
    for language, block in BLOCK.findall(README.read_text(encoding="utf-8")):
        if language == "python":
            assert run(tmp_path, sys.executable, "-W", "error", "-c", block).returncode == 0
        elif language == "console":
            for command, shown in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                program, *words = shlex.split(command)
                assert program == "spanwise"
                done = run(tmp_path, sys.executable, "-m", *[program, *words])
                printed = re.sub(r"\n{2,}", "\n", done.stdout + done.stderr).lstrip("\n")
                assert re.fullmatch(pattern_of(shown), printed), printed


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder; its exit code is 0 or 1."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return done


def test_the_changelog_names_this_version() -> None:
    assert f" {spanwise.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
