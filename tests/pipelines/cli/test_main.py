"""The command line as a user meets it: errors, exit codes, settings, help, and what it imports."""

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
HEAVY = (
    "torch", "transformers", "sentence_transformers", "faiss", "numba", "scipy", "lxml", "bs4", "docx",
    "markdown_it", "langchain_text_splitters", "spanwise.pipelines.cli.evaluate",
)  # fmt: skip
PROGRAM = """
import json, sys
from spanwise.pipelines.cli import main
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as stopped:
        assert not stopped.code, stopped.code
    print("MODULES", *sys.modules, file=sys.stderr)
"""


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
    exit_code, out, err = run(*arguments)
    assert exit_code == code
    assert out == ""
    assert message in err
    assert err.startswith("spanwise: ")
    assert err.count("\n") == 1
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.fixture(scope="module")
def index(tmp_path_factory, indexed):
    """An indexed folder without vectors, which no test changes."""
    folder = tmp_path_factory.mktemp("indexed")
    (folder / "sub").mkdir()
    (folder / "mill.md").write_text("# The mill\n\nThe mill was built in 1811 by Ada Rook.\n")
    (folder / "tram.txt").write_text("The tram was opened by Ute Falk in 1903.\n")
    (folder / "sub" / "weir.txt").write_text("The weir was raised in 1920.\n")
    indexed(folder).close()
    return folder


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--retriever", "bm26"), 2, "bm25"),
        (("--type", "pdg"), 1, "pdg"),
        (("--after", "yesterday"), 2, "yesterday"),
        (("--path", "subs/**"), 0, "0 of 3 documents; did you mean 'sub/**'?"),
    ],
)
def test_wrong_values_are_named(run, index, options, code, message):
    exit_code, _, err = run("search", "who?", "--index", index, "--retriever", "bm25", *options)
    assert exit_code == code
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("verb", ["ask", "search", "summarize"])
def test_an_empty_question_is_wrong_usage(run, index, verb):
    code, out, err = run(verb, " ", "--index", index, "--retriever", "bm25")
    assert code == 2
    assert out == ""
    assert err.startswith("spanwise: the question is empty")
    assert err.count("\n") == 1


def test_settings_come_from_toml_and_environment(run, index, tmp_path, monkeypatch):
    def retriever() -> str:
        return json.loads(run("search", "weir", "--index", index, "--json")[1])["retriever"]

    (tmp_path / "spanwise.toml").write_text('[search]\nretriever = "tfidf"\n')
    assert retriever() == "tfidf"
    monkeypatch.setenv("SPANWISE_SEARCH_RETRIEVER", "bm25")
    assert retriever() == "bm25"
    (tmp_path / "spanwise.toml").write_text("[search\n")
    code, _, err = run("search", "weir", "--index", index)
    assert code == 2
    assert "not valid TOML" in err


def test_the_current_folder_names_no_server_but_the_user_may(run, index, tmp_path, monkeypatch):
    own = tmp_path / "config" / "spanwise" / "spanwise.toml"
    own.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own.write_text('[ask]\nbase_url = "http://127.0.0.1:9/v1"\nreader = "openai:x"\n')
    asked = "ask", "Who built the weir?", "--index", index, "--retriever", "bm25"
    assert "http://127.0.0.1:9/v1" in run(*asked)[2]
    for name, value in (("base_url", "http://a.example/v1"), ("reader", "ollama:x-cloud"), ("record", "a")):
        (tmp_path / "spanwise.toml").write_text(f'[ask]\n{name} = "{value}"\n')
        code, out, err = run(*asked)
        assert (code, out) == (2, "")
        assert f"names a server ({name})" in err
    assert str(own) in err
    assert "SPANWISE_ASK_RECORD" in err
    (tmp_path / "spanwise.toml").write_text('[ask]\nreader = "fast"\n')
    assert run(*asked)[0] == 0
    (tmp_path / "spanwise.toml").write_text("k = 3\n")
    assert "outside of tables" in run(*asked)[2]


def leaves() -> dict[str, object]:
    """Every command by its name, such as "eval squad"."""
    commands: dict[str, object] = {}
    for name in VERBS:
        command = command_of(name)
        subcommands = getattr(command, "commands", None)
        if subcommands:
            commands |= {f"{name} {sub}": subcommand for sub, subcommand in subcommands.items()}
        else:
            commands[name] = command
    return commands


@pytest.mark.parametrize("name", leaves())
def test_help_fits_a_screen_and_has_an_example(run, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*name.split(), "-h")
    assert code == 0
    assert "Example: spanwise" in out
    assert len(out.splitlines()) <= 40
    assert len(set(re.findall(r"^  --?([a-z-]+)", out, re.MULTILINE)) - UNCOUNTED) <= MAX_OPTIONS
    _, everything, _ = run(*name.split(), "--help-all")
    options = [
        parameter.opts[0] for parameter in leaves()[name].params if parameter.param_type_name == "option"
    ]
    assert [option for option in options if option not in everything] == []


@pytest.mark.parametrize("name", ["", "eval", "train"])
def test_the_help_of_a_group_is_whole_and_names_no_variable(run, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, err = run(*name.split(), "-h")
    assert "..." not in out.partition("Commands:")[2]
    assert "SPANWISE_" not in out
    assert len(out.splitlines()) <= 40
    assert err == ""


def imported(*commands: tuple[object, ...]) -> list[set[str]]:
    """The heavy modules that one process has imported after each of the commands."""
    arguments = json.dumps([[str(argument) for argument in command] for command in commands])
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, arguments],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    lines = [line for line in process.stderr.splitlines() if line.startswith("MODULES ")]
    return [set(line.split()).intersection(HEAVY) for line in lines]


def test_commands_without_models_load_no_heavy_package(index, monkeypatch):
    monkeypatch.chdir(index)
    *without_models, after_help = imported(
        ("--version",), ("status",), ("verify",), ("search", "weir", "--retriever", "bm25"), ("--help",)
    )
    assert without_models == [set()] * 4
    assert after_help <= {"spanwise.pipelines.cli.evaluate"}


def test_a_first_question_needs_neither_torch_nor_numba(folder, reader_folder):
    with spanwise.open(folder) as library:
        library.sync()
    question = ("ask", "Who built the mill?", "--index", folder)
    first, by_other_reader = imported(question, (*question, "--reader", reader_folder))
    assert first <= {"markdown_it"}
    assert by_other_reader <= {"torch", "markdown_it"}


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
    assert process.returncode == 130
    assert err.count("\n") == 1
    assert "interrupted" in err
    code, out, _ = run("index", tmp_path / "many", "--lexical-only", "--json")
    assert code == 0
    assert json.loads(out)["found"] == 400
