"""The documentation says what the program does: its commands are known, and what it shows is what is seen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from documented import ROOT, Block, Shown, agree, blocks, broken_links, commands, shown
from typer.main import get_command

import spanwise
from spanwise.pipelines.cli.main import app

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("models/weights/*/README.md")),
]
RUN = [ROOT / "README.md"]
SAMPLE = ROOT / "corpora" / "sample"
UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "UsageError")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_that_is_shown_is_known(page: Path) -> None:
    assert [wrong for line, words in commands(page) if (wrong := complaint(line, words))] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_a_command_with_an_unknown_option_is_noticed() -> None:
    assert complaint(7, ["ask", "who?", "--no-such-option"]) is not None
    assert complaint(7, ["no-such-verb"]) is not None


def complaint(line: int, words: list[str]) -> str | None:
    """What is wrong with the arguments of a command, apart from paths and the shell's variables."""
    command, context, rest = get_command(app), None, words
    try:
        while hasattr(command, "get_command"):
            context = command.make_context("spanwise", rest[:1], parent=context, resilient_parsing=True)
            found = command.get_command(context, rest[0])
            if found is None:
                return f"line {line}: {rest[0]} is no command"
            command, rest = found, rest[1:]
        command.make_context(words[0], rest, parent=context)
    except UsageError as error:
        message = error.format_message()
        return None if "does not exist" in message or "$" in message else f"line {line}: {message}"
    return None


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the documents that the pages speak of, for all blocks of all pages."""
    home = tmp_path_factory.mktemp("documented")
    shutil.copytree(SAMPLE / "docs", home / "notes")
    asked = json.loads((SAMPLE / "questions.json").read_text(encoding="utf-8"))
    (home / "questions.json").write_text(json.dumps({**asked, "data": asked["data"][:2]}), encoding="utf-8")
    return home


@pytest.mark.reliability
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_what_a_page_shows_is_what_is_seen(page: Path, place: Path) -> None:
    """The blocks of a page in their order: a later one may rest on an earlier one."""
    for block in blocks(page):
        if block.language == "console":
            for one in shown(block):
                check_command(one, place, page, block)
        elif block.language == "python":
            run_python(block, place, page)


def check_command(one: Shown, place: Path, page: Path, block: Block) -> None:
    command = one.command.replace("spanwise ", f"{sys.executable} -m spanwise ", 1)
    done = subprocess.run(command, shell=True, cwd=place, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), f"{one.command}\n{done.stderr}"
    printed = (done.stdout + done.stderr).splitlines()
    assert agree(one.printed, printed), f"{name_of(page)}:{block.line}: {one.command}\n" + "\n".join(printed)


def run_python(block: Block, place: Path, page: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(block.lines)],
        cwd=place, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, f"{name_of(page)}:{block.line}\n{done.stderr}"


def test_the_version_that_the_changelog_names_is_this_one() -> None:
    assert f" {spanwise.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
