"""The documentation is true: commands and links exist, imports work, examples print what is shown.

A fenced block `console` holds commands, each followed by its output. In the output a line `…` stands for any
lines, and `…` inside a line for any text; numbers with a fraction or a per cent sign may differ. A fenced
block `python` is a program that runs.
"""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

import spanwise
from spanwise.models.model_files import READER_VARIABLE
from spanwise.pipelines.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "corpora" / "sample"
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("models/weights/*/README.md"))]
GENERATED = {"api.md", "cli.md"}
WRITTEN = [page for page in PAGES if page.name not in GENERATED]
EXAMPLES = [README, ROOT / "docs" / "guide.md", ROOT / "docs" / "serving.md"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:    |\$ )+(spanwise \S.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]{1,200})\)")
HEADING = re.compile(r"^#{1,6} (.{1,200})$", re.MULTILINE)
PLACEHOLDER = re.compile(r"^…\n|…|\d+\.\d+|\d+(?=%)", re.MULTILINE)
MAX_COLUMNS = 120  # of prose; pages are wrapped at 110
UsageError: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError")


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each `spanwise` command that a page shows, without redirections and comments."""
    for line in COMMAND.findall(text.replace("\\\n", " ")):
        for command in line.split("; "):
            if command.startswith("spanwise "):
                yield shlex.split(command.split(" <")[0], comments=True)[1:]


def usage_error(words: list[str]) -> str:
    """The message for wrong arguments of a command, "" for right ones; paths and variables may be unknown."""
    command = get_command(app)
    context = None
    rest = words
    try:
        while hasattr(command, "get_command"):
            context = command.make_context("spanwise", rest[:1], parent=context, resilient_parsing=True)
            subcommand = command.get_command(context, rest[0])
            if subcommand is None:
                return f"{rest[0]} is no command"
            command = subcommand
            rest = rest[1:]
        command.make_context(words[0], rest, parent=context)
    except UsageError as error:
        message = str(error.format_message())
        return "" if "does not exist" in message or "$" in message else message
    return ""


def is_broken(page: Path, link: str) -> bool:
    """True if a link leads to no file or heading of the documentation."""
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    if "://" in link or not anchor:
        return "://" not in link and not target.exists()
    titles = HEADING.findall(target.read_text(encoding="utf-8").lower())
    return anchor not in {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def pattern_of(shown: str) -> str:
    """A regular expression that matches the output that a block shows."""
    pattern = ""
    end = 0
    for match in PLACEHOLDER.finditer(shown):
        anything = {"…\n": r"(?:.*\n)*?", "…": ".*"}.get(match[0], r"\d+(?:\.\d+)?")
        pattern += re.escape(shown[end : match.start()]) + anything
        end = match.end()
    return pattern + re.escape(shown[end:])


def python_blocks(text: str) -> list[str]:
    """The Python programs of a page."""
    return [block for language, block in BLOCK.findall(text) if language == "python"]


def long_lines(text: str) -> list[str]:
    """The lines of prose over MAX_COLUMNS; tables, code and links that cannot be broken may be longer."""
    prose = BLOCK.sub("", text).splitlines()
    return [
        line
        for line in prose
        if len(line) > MAX_COLUMNS and not line.startswith(("|", "    ", "![")) and " " in line.strip()
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_are_known_and_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    errors = {" ".join(words): usage_error(words) for words in commands(text)}
    assert {command: error for command, error in errors.items() if error} == {}
    assert [link for link in LINK.findall(text) if is_broken(page, link)] == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_imports_of_a_page_work(page: Path) -> None:
    for block in python_blocks(page.read_text(encoding="utf-8")):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom):
                module = import_module(str(node.module))
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_prose_is_wrapped(page: Path) -> None:
    assert long_lines(page.read_text(encoding="utf-8")) == []


def test_an_error_in_a_page_is_noticed() -> None:
    assert list(commands("    spanwise ask 'who?' \\\n  --reader x <q.txt")) == [
        ["ask", "who?", "--reader", "x"]
    ]
    assert usage_error(["ask", "who?", "--no-such-option"])
    assert usage_error(["no-such-verb"])
    assert is_broken(README, "docs/nothing.md")
    assert is_broken(README, "#nothing")
    assert long_lines("long " * 30) == ["long " * 30]
    assert not re.fullmatch(pattern_of("a 0.5\n…\nb\n"), "a 0.7\nx\ny\nc\n")
    assert re.fullmatch(pattern_of("a 0.5\n…\nb\n"), "a 0.7\nx\ny\nb\n")


@pytest.mark.reliability
@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.name)
def test_the_examples_of_a_page_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    """They run in the order of the page: a later one may use the results of an earlier one."""
    copied = shutil.copytree(SAMPLE / "docs", tmp_path / "corpora" / "sample" / "docs")
    if page != README:  # whose first command makes it
        shutil.copytree(copied, tmp_path / "notes")
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            assert run(tmp_path, sys.executable, "-W", "error", "-c", block).returncode == 0
        elif language == "console":
            for command, shown in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                program, *words = shlex.split(command)
                assert program in ("spanwise", "cp")
                call = [sys.executable, "-m", program] if program == "spanwise" else [program]
                process = run(tmp_path, *call, *words)
                printed = re.sub(r"\n{2,}", "\n", process.stdout + process.stderr).lstrip("\n")
                assert re.fullmatch(pattern_of(shown), printed), printed


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder; its exit code must be 0 or 1."""
    env = {name: value for name, value in os.environ.items() if name != READER_VARIABLE}
    process = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert process.returncode in (0, 1), process.stderr
    return process


def test_pages_install_the_tested_version_of_torch() -> None:
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    [torch] = [line for line in constraints if line.startswith("torch==")]
    for page in (README, ROOT / "CONTRIBUTING.md"):
        assert f"pip install {torch} --index-url" in page.read_text(encoding="utf-8")


def test_the_modules_that_the_architecture_names_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    homes = [ROOT, ROOT / "spanwise", ROOT / "pipelines", ROOT / "pipelines" / "parsing"]
    names = set(re.findall(r"[\w/]+\.py\b", text))
    assert [name for name in sorted(names) if not any((home / name).exists() for home in homes)] == []


def test_the_changelog_names_this_version() -> None:
    assert f" {spanwise.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
