"""The command line as a user meets it: shapes of JSON, exit codes, one line an error."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

PLACE_KEYS = ["document", "start", "end", "page", "line", "label", "heading", "passage"]
ANSWER_KEYS = ["text", "short", "sentence", "score", "confidence", *PLACE_KEYS, "duplicates", "agreeing"]
SEARCHED_KEYS = ["document", "passage", "start", "end", "page", "line", "label", "heading", "text"]
HIT_KEYS = ["rank", "score", "scores", *SEARCHED_KEYS, "duplicates"]


def test_index_prints_its_report(run, folder, encoder_folder):
    code, out, _ = run("index", folder, "--model", encoder_folder, "--json")
    record = json.loads(out)
    assert code == 0
    assert list(record) == [
        "added",
        "updated",
        "deleted",
        "unchanged",
        "rejected",
        "skipped",
        "remarks",
        "found",
        "reused_vectors",
        "encoded_tokens",
        "passages",
        "seconds",
    ]


def test_search_prints_hits(run, folder):
    run("index", folder, "--lexical-only", "--index", "there")
    code, out, _ = run(
        "search", "when was the weir raised?", "--index", "there", "--retriever", "bm25", "-k", 2, "--json"
    )
    record = json.loads(out)
    assert (code, list(record)) == (0, ["question", "retriever", "hits"])
    assert list(record["hits"][0]) == HIT_KEYS
    assert record["hits"][0]["document"] == "sub/weir.html"


def test_ask_prints_an_answer(run, folder, encoder_folder, reader_folder):
    run("index", folder, "--model", encoder_folder)
    question = ("ask", "who built the mill?", "--index", folder, "--reader", reader_folder, "--threshold", 0)
    code, out, _ = run(*question, "--json")
    record = json.loads(out)
    assert (code, list(record)) == (
        0,
        [
            *("question", "answer", "alternatives", "searched", "nearest", "threshold"),
            *("max_error", "retriever", "cached", "timings_ms"),
        ],
    )
    assert list(record["answer"]) == ANSWER_KEYS
    assert list(record["answer"]["passage"]) == ["id", "start", "end", "text"]
    passage = record["answer"]["passage"]
    assert passage["text"][record["answer"]["start"] - passage["start"] :].startswith(
        record["answer"]["text"]
    )
    assert run(*question)[1].strip()


def test_ask_a_folder_syncs_it_first(run, folder, encoder_folder, reader_folder):
    run("index", folder, "--model", encoder_folder)
    code, _, err = run("ask", "who?", folder, "--reader", reader_folder)
    assert (code, "nothing changed" in err) == (0, True)
    (folder / "new.txt").write_text("A new ferry.\n")
    assert "1 added" in run("ask", "who?", folder, "--reader", reader_folder)[2]


def test_the_nearest_index_upward_is_used(run, folder, monkeypatch):
    run("index", folder, "--lexical-only")
    monkeypatch.chdir(folder / "sub")
    assert run("search", "weir", "--retriever", "tfidf")[0] == 0


def test_status_tells_what_is_there(run, folder):
    run("index", folder, "--lexical-only")
    code, out, _ = run("status", "--index", folder, "--json")
    assert (code, json.loads(out)["documents"]) == (0, 3)
    assert "dense search lacks" in run("status", "--index", folder)[1]


def one_line(text: str) -> bool:
    return text.startswith("spanwise: ") and text.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("index", "nowhere"), 1, "nowhere"),
        (("index", "empty"), 1, "empty"),
        (("search", "who?"), 1, "no index"),
        (("search", "who?", "--index", "empty"), 1, "not an index"),
        (("ask", "  ", "--index", "empty"), 2, "question is empty"),
        (("search", "", "--index", "empty"), 2, "question is empty"),
        (("search", "who?", "--colour"), 2, "--colour"),
        (("search", "who?", "-k", "0"), 2, "'-k'"),
        (("fetch",), 2, "fetch"),
        (("eval", "squad", "--data", "nowhere.json"), 1, "nowhere.json"),
    ],
)
def test_errors_are_one_line_with_the_right_code(run, tmp_path, arguments, code, says):
    (tmp_path / "empty").mkdir()
    got, out, err = run(*arguments)
    assert (got, out) == (code, "")
    assert says in err
    assert one_line(err)


def test_an_empty_index_is_named(run, folder):
    run("index", folder, "--lexical-only", "--index", "there")
    for path in sorted(folder.rglob("*.*")):
        path.unlink()
    assert run("index", folder, "--lexical-only", "--index", "there")[0] == 0
    code, _, err = run("search", "who?", "--index", "there", "--retriever", "bm25")
    assert (code, "no passages" in err, one_line(err)) == (1, True, True)


def test_an_unknown_retriever_is_wrong_usage(run, folder):
    run("index", folder, "--lexical-only")
    code, _, err = run("search", "who?", "--index", folder, "--retriever", "bm26")
    assert (code, one_line(err)) == (2, True)
    assert "bm25" in err


def test_settings_come_from_toml_and_environment(run, folder, tmp_path, monkeypatch):
    run("index", folder, "--lexical-only")
    (tmp_path / "spanwise.toml").write_text('[search]\nretriever = "tfidf"\n')
    assert json.loads(run("search", "weir", "--index", folder, "--json")[1])["retriever"] == "tfidf"
    monkeypatch.setenv("SPANWISE_SEARCH_RETRIEVER", "bm25")
    assert json.loads(run("search", "weir", "--index", folder, "--json")[1])["retriever"] == "bm25"


def test_control_characters_of_a_document_never_reach_the_terminal(run, folder):
    (folder / "evil.txt").write_text("zebra \x1b[31m red \u202e turned\n")
    run("index", folder, "--lexical-only")
    out = run("search", "zebra", "--index", folder, "--retriever", "bm25")[1]
    assert "\x1b" not in out
    assert "\u202e" not in out


def imported(*arguments: str) -> set[str]:
    code = (
        "import sys\nfrom spanwise.pipelines.cli import main\n"
        f"try:\n    main({list(arguments)!r})\nexcept SystemExit:\n    pass\n"
        "print('MODULES', *[m for m in ('torch', 'transformers', 'faiss') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.strip().splitlines()[-1].split()[1:])


def test_help_status_and_lexical_search_load_no_heavy_package(run, folder):
    run("index", folder, "--lexical-only")
    assert imported("--help") == set()
    assert imported("status", "--index", str(folder)) == set()
    assert imported("verify", "--index", str(folder)) == set()
    assert imported("search", "weir", "--index", str(folder), "--retriever", "bm25") == set()
    assert imported("search", "weir", "--index", str(folder), "--retriever", "tfidf") == set()
    assert imported("index", str(folder), "--lexical-only") == set()


@pytest.mark.parametrize(
    "verb",
    [
        (),
        ("index",),
        ("search",),
        ("ask",),
        ("why-not",),
        ("status",),
        ("verify",),
        ("doctor",),
        ("eval", "squad"),
        ("train", "reader"),
    ],
)
def test_help_gives_an_example(run, verb):
    code, out, _ = run(*verb, "-h")
    assert (code, "Example: spanwise" in out) == (0, True)


def test_an_interrupt_is_told_and_the_next_run_goes_on(run, tmp_path):
    for number in range(400):
        (tmp_path / "many").mkdir(exist_ok=True)
        (tmp_path / "many" / f"{number}.txt").write_text(f"Note {number} on the mill.\n" * 200)
    command = [sys.executable, "-m", "spanwise", "index", str(tmp_path / "many"), "--lexical-only"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(tmp_path / "many" / ".spanwise" / "write.lock")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.count("\n")) == (130, 1)
    assert "interrupted; what was committed is kept" in said
    code, out, _ = run("index", tmp_path / "many", "--lexical-only", "--json")
    assert (code, json.loads(out)["found"]) == (0, 400)


def wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
