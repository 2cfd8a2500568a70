"""The command line as a user meets it: errors, exit codes, settings, help, and what it imports."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

import spanwise
from spanwise.pipelines.cli.main import VERBS, command_of

MAX_OPTIONS = 14
UNCOUNTED = {"index", "json", "help", "path", "type", "after", "before", "meta"}
WATCHED = (
    "torch", "transformers", "sentence_transformers", "faiss", "numba", "scipy", "lxml", "bs4", "docx",
    "markdown_it", "langchain_text_splitters", "spanwise.pipelines.cli.evaluate",
)  # fmt: skip
PROGRAM = """
import sys
from spanwise.pipelines.cli import main
try:
    main(sys.argv[2:])
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print("MODULES", *(name for name in sys.argv[1].split(",") if name in sys.modules), file=sys.stderr)
"""


def one_line(text: str) -> bool:
    return text.startswith("spanwise: ") and text.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("index", "nowhere"), 1, "nowhere"),
        (("index", "empty"), 1, "no readable documents"),
        (("ask", "who?", "empty"), 1, "it is empty"),
        (("search", "who?"), 1, "no index"),
        (("search", "who?", "--index", "empty"), 1, "not an index"),
        (("search", "who?", "--colour"), 2, "--colour"),
        (("search", "who?", "-k", "0"), 2, "'-k'"),
        (("search", "who?", "--meta", "author"), 2, "not KEY=VALUE"),
        (("ask", "who?", "--document", "a.md"), 2, "add --explain"),
        (("fetch",), 2, "fetch"),
        (("eval", "squad", "--data", "nowhere.json"), 1, "nowhere.json"),
    ],
)
def test_errors_are_one_line_with_the_right_code(run, tmp_path, arguments, code, message):
    (tmp_path / "empty").mkdir()
    found, out, err = run(*arguments)
    assert (found, out, message in err, one_line(err)) == (code, "", True, True), err
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.fixture
def index(folder):
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
    return folder


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--retriever", "bm26"), 2, "bm25"),
        (("--type", "pdg"), 1, "pdg"),
        (("--after", "yesterday"), 2, "yesterday"),
        (("--retriever", "bm25", "--path", "subs/**"), 0, "0 of 3 documents; did you mean 'sub/**'?"),
    ],
)
def test_wrong_values_are_named(run, index, options, code, message):
    found, _, err = run("search", "who?", "--index", index, *options)
    assert (found, message in err, err.count("\n")) == (code, True, 1), err


def test_settings_come_from_toml_and_environment(run, index, tmp_path, monkeypatch):
    def retriever() -> str:
        return json.loads(run("search", "weir", "--index", index, "--json")[1])["retriever"]

    (tmp_path / "spanwise.toml").write_text('[search]\nretriever = "tfidf"\n')
    assert retriever() == "tfidf"
    monkeypatch.setenv("SPANWISE_SEARCH_RETRIEVER", "bm25")
    assert retriever() == "bm25"
    (tmp_path / "spanwise.toml").write_text("[search\n")
    code, _, err = run("search", "weir", "--index", index)
    assert (code, "not valid TOML" in err) == (2, True)


def leaves() -> dict[str, object]:
    """Every command by its name, as "eval squad"."""
    found: dict[str, object] = {}
    for name in VERBS:
        command = command_of(name)
        below = getattr(command, "commands", None)
        found |= {f"{name} {sub}": one for sub, one in below.items()} if below else {name: command}
    return found


@pytest.mark.parametrize("name", leaves())
def test_help_fits_a_screen_and_has_an_example(run, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*name.split(), "-h")
    assert (code, "Example: spanwise" in out, len(out.splitlines()) <= 40) == (0, True, True)
    options = {one.name: one.opts[0] for one in leaves()[name].params if one.param_type_name == "option"}
    assert len(set(re.findall(r"^  --?([a-z-]+)", out, re.MULTILINE)) - UNCOUNTED) <= MAX_OPTIONS
    _, everything, _ = run(*name.split(), "--help-all")
    assert [option for option in options.values() if option not in everything] == []


@pytest.mark.parametrize("name", ["", "eval", "train"])
def test_the_help_of_a_group_is_whole_and_names_no_variable(run, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, err = run(*name.split(), "-h")
    assert ("..." in out.partition("Commands:")[2], "SPANWISE_" in out, len(out.splitlines()) <= 40, err) == (
        *(False, False, True), "",
    )  # fmt: skip


def imported(*arguments: object) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, ",".join(WATCHED), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return set(done.stderr.splitlines()[-1].split()[1:])


def test_commands_without_models_load_no_heavy_package(index, monkeypatch):
    monkeypatch.chdir(index)
    assert imported("--version") == imported("status") == imported("verify") == set()
    assert imported("search", "weir", "--retriever", "bm25") == set()
    assert imported("--help") <= {"spanwise.pipelines.cli.evaluate"}


def test_a_first_question_needs_neither_torch_nor_numba(folder, reader_folder):
    with spanwise.open(folder) as library:
        library.sync()
    arguments = ("ask", "Who built the mill?", "--index", folder)
    assert imported("search", *arguments[1:]) <= {"markdown_it"}
    assert imported(*arguments) <= {"markdown_it"}
    assert imported(*arguments, "--reader", reader_folder) <= {"torch", "markdown_it"}


@pytest.mark.reliability
def test_an_interrupt_is_one_line_and_the_next_run_continues(run, tmp_path):
    (tmp_path / "many").mkdir()
    for number in range(400):
        (tmp_path / "many" / f"{number}.txt").write_text(f"Note {number} on the mill.\n" * 200)
    command = [sys.executable, "-m", "spanwise", "index", str(tmp_path / "many"), "--lexical-only"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "many/.spanwise/write.lock").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.count("\n"), "interrupted" in err) == (130, 1, True)
    code, out, _ = run("index", tmp_path / "many", "--lexical-only", "--json")
    assert (code, json.loads(out)["found"]) == (0, 400)
