"""`spanwise ask`: answers and declined questions on the screen, prompts, and lines of stdin."""

import fcntl
import io
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.scripted_reader import asker, by_margin

import spanwise
from spanwise.pipelines.cli.ask import HINT
from spanwise.pipelines.cli.show import show_answer
from spanwise.types import Answer

WAIT_S = 120
KEY_S = 3  # a received key has shown by then


def answer_of(library, question: str, *script: tuple[str, float, float]) -> Answer:
    [answer] = asker(library, *script).answer([question])
    return answer


def test_places_with_the_same_answer_are_named_and_counted(library, folder, capsys):
    for n in range(5):
        text = f"Guide {n * 'more '}says that the mill is the work of Ada Rook and of {n + 3} men.\n"
        (folder / f"guide{n}.txt").write_text(text)
    library.sync(vectors=False)
    script = ("Ada Rook", 9.0, 2.0), ("stones", 8.0, 2.0)
    show_answer(answer_of(library, "Who built the mill with stones?", *script))
    [line] = [line for line in capsys.readouterr().out.splitlines() if "also in" in line]
    assert line.count("line ") == 3
    assert line.endswith(", and 2 more")


def test_a_line_end_in_a_name_breaks_no_citation(library, folder, capsys):
    (folder / "mill.md").rename(folder / "the\nmill.md")
    library.sync(vectors=False)
    answer = answer_of(library, "Who built the mill?", ("Ada Rook", 9.0, 2.0))
    show_answer(answer)
    assert "  the mill.md, line 3, The mill" in capsys.readouterr().out


def test_answers_are_saved_as_markdown_with_their_citations(run, arguments, tmp_path):
    saved = tmp_path / "saved.md"
    saved.write_text("# Notes\n")
    for _ in range(2):
        assert run("ask", "Who built the mill?", *arguments, "--threshold", 0, "--save", saved)[0] == 0
    assert saved.read_text().startswith("# Notes\n## Who built the mill?\n\n")
    assert saved.read_text().count("## Who built the mill?") == 2
    assert saved.read_text().count("[1] mill.md, line ") == 2


def test_steps_are_shown_below_the_answer(library, folder, capsys):
    (folder / "mill.md").write_text("# The mill\n\n- Lift the mill \u202egate.\n- Fill it.\n", "utf-8")
    library.sync(vectors=False)
    show_answer(answer_of(library, "How do I grind at the mill?", ("Lift the mill", 9.0, 0.0)))
    assert capsys.readouterr().out.splitlines()[-2:] == ["  1. Lift the mill <U+202E>gate.", "  2. Fill it."]


def test_a_declined_question_is_six_lines_at_most(library, folder, capsys):
    words = "grinds \u202erye " * 20
    (folder / "mill.md").write_text(f"# The mill\n\nIt {words}for Ada Rook.\n", encoding="utf-8")
    library.sync(vectors=False)
    show_answer(answer_of(library, "Who sold the zeppelin mill?", ("Ada Rook", 1.0, 5.0)))
    lines = capsys.readouterr().out.splitlines()
    verdict, first, *_, hint = lines
    assert verdict == "not in these documents: no document mentions “sold” or “zeppelin”"
    assert len(lines) <= 6
    assert first.startswith("  mill.md, line 1  It grinds <U+202E>rye")
    assert first.endswith("…")
    assert hint == "  see why with: --explain"


def test_a_refusal_names_the_command_that_lists_unread_files(run, folder, arguments):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    run("index", folder)
    declining = [*arguments[:3], "builtin", "--retriever", "bm25", "--threshold", 1]
    _, out, _ = run("ask", "Wer hat den Zeppelin verkauft?", *declining)
    *_, hint, unread = out.splitlines()
    assert hint.startswith("  the built-in models read English; ")
    assert unread == f"  1 file could not be read: spanwise status --index {folder / '.spanwise'} --rejected"


def test_candidates_have_their_place_and_confidence(library, capsys):
    [answer] = asker(library, ("Ada Rook", 0.5, 0.0), calibration=by_margin(0.9)).answer(
        ["Who built the mill?"]
    )
    show_answer(answer)
    verdict, sentence, place, _ = capsys.readouterr().out.splitlines()
    assert verdict == "not sure; the nearest:"
    assert sentence == "  The mill was built in 1811 by Ada Rook."
    assert place == "    mill.md, line 3, The mill  (confidence 62%)"


def test_a_candidate_behind_the_cut_of_its_sentence_is_shown_alone(library, folder, capsys):
    (folder / "mill.md").write_text(f"The mill {'ground rye and ' * 20}was built by Ada Rook.\n")
    library.sync(vectors=False)
    script = asker(library, ("Ada Rook", 0.5, 0.0), calibration=by_margin(0.9))
    show_answer(script.answer(["Who built the mill?"])[0])
    assert capsys.readouterr().out.splitlines()[1] == "  Ada Rook"


def test_other_answers_have_their_own_line_unless_below_five_percent(library, capsys):
    script = ("Ada Rook", 4.0, 0.0), ("stones", -2.0, 0.0), ("six", -4.0, 0.0)
    question = "Who built the mill with stones or six?"
    show_answer(asker(library, *script, calibration=by_margin(0.5)).answer([question])[0], verbose=True)
    out = capsys.readouterr().out
    assert "other answers\n  stones  mill.md, line 9, The mill > Rules  (confidence 12%)\n\n" in out
    assert " ms" in out.splitlines()[-1]


def test_words_and_sentences_above_are_not_among_the_other_answers(library, capsys):
    [answer] = asker(library, ("Ada Rook", 4.0, 0.0), ("six", 3.0, 0.0)).answer(
        ["Who built the mill or six?"]
    )
    assert answer.best is not None
    [other] = answer.alternatives
    longer = replace(answer.best, span=replace(answer.best.span, text="1811 by Ada Rook"))
    elsewhere = replace(other, span=replace(other.span, text="ada rook"))
    show_answer(replace(answer, alternatives=(answer.best, longer, elsewhere)))
    assert "other answers" not in capsys.readouterr().out
    show_answer(replace(answer, parts=(answer.best, other)))
    assert capsys.readouterr().out.count("six") == 1
    show_answer(answer)
    assert "other answers\n  six" in capsys.readouterr().out


@pytest.fixture
def arguments(folder, encoder_folder, reader_folder):
    """The arguments for an index of tiny models."""
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
    return ("--index", folder, "--reader", reader_folder, "--threshold", 0, "--retriever", "bm25")


def test_an_answer_as_json_and_explained(run, arguments):
    code, out, _ = run("ask", "who built the mill?", *arguments, "--json")
    record = json.loads(out)
    assert code == 0
    assert {"question", "answer", "alternatives", "searched", "nearest"} <= set(record)
    answer = record["answer"]
    passage = answer["passage"]
    assert passage["text"][answer["start"] - passage["start"] :].startswith(answer["text"])
    code, out, _ = run("ask", "who built the mill?", *arguments, "--explain", "--document", "tram.txt")
    assert code == 0
    assert "tram.txt:" in out


def test_ask_a_folder_syncs_it_first(run, folder, arguments):
    assert run("ask", "who?", folder, *arguments[2:])[2] == ""
    assert "nothing changed" in run("ask", "who?", folder, *arguments[2:], "--verbose")[2]
    (folder / "new.txt").write_text("A new ferry.\n")
    assert "1 added" in run("ask", "who?", folder, *arguments[2:])[2]
    (folder / "newer.txt").write_text("A zebra.\n")
    code, out, err = run("search", "zebrra", folder, "--retriever", "bm25")
    assert code == 0
    assert "newer.txt" in out
    assert 'searched for "zebra" instead of "zebrra"' in err


def test_a_folder_in_an_indexed_one_is_a_part_of_its_index(run, folder, arguments):
    rest = arguments[2:]
    code, out, err = run("ask", "who raised the weir?", folder / "sub", *rest, "--json")
    assert code == 0
    assert f"uses the index of {folder}" in err
    assert json.loads(out)["filter"]["documents"] == 1
    assert not (folder / "sub" / ".spanwise").exists()
    code, out, _ = run("search", "mill weir tram", folder / "sub", "--retriever", "bm25")
    assert [line.split()[2] for line in out.splitlines()[::2]] == ["sub/weir.html,"]
    assert "mill.md" not in run("summarize", folder / "sub")[1]
    (folder / "sub" / "new.txt").write_text("A zebra.\n")
    assert (
        "sub/new.txt" in run("search", "zebra", folder / "sub", "--retriever", "bm25", "--path", "*.txt")[1]
    )


def test_a_folder_with_its_own_index_or_outside_of_the_one_above_uses_its_own(run, folder, arguments):
    assert run("index", folder / "sub", "--lexical-only")[0] == 0
    err = run("search", "weir", folder / "sub", "--retriever", "bm25")[2]
    assert "uses the index" not in err
    (folder.parent / "papers").mkdir()
    (folder.parent / "papers" / "p.txt").write_text("A zebra.\n")
    run("index", folder, "--index", folder.parent / ".spanwise", "--lexical-only")
    err = run("search", "zebra", folder.parent / "papers", "--retriever", "bm25")[2]
    assert "uses the index" not in err
    assert (folder.parent / "papers" / ".spanwise").is_dir()


def test_a_single_argument_that_is_a_folder_is_no_question(run, folder, arguments, monkeypatch):
    code, out, _ = run("summarize", folder)
    assert code == 0
    assert "mill.md" in out
    lines(monkeypatch, "Who built the mill?\n")
    assert run("ask", folder, *arguments[2:])[1].startswith("Who built the mill?\n")
    code, _, err = run("search", folder)
    assert code == 2
    assert "is a folder" in err


def lines(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_each_line_of_stdin_is_a_question(run, arguments, monkeypatch):
    lines(monkeypatch, "Who built the mill?\n\nWho opened the tram?\n")
    code, out, err = run("ask", *arguments, "--json")
    questions = [json.loads(line)["question"] for line in out.splitlines()]
    assert code == 0
    assert err == ""
    assert questions == ["Who built the mill?", "Who opened the tram?"]
    lines(monkeypatch, "Who built \x1b[31m the mill?\n")
    out = run("ask", *arguments)[1]
    assert out.startswith("Who built ")
    assert "\x1b" not in out
    lines(monkeypatch, "\n \n")
    code, out, err = run("ask", *arguments)
    assert code == 2
    assert out == ""
    assert "no question" in err


def test_lines_of_stdin_are_a_conversation_if_that_is_wanted(run, arguments, monkeypatch):
    for options, understood in ((["--conversation"], "Who built the tram?"), ([], "")):
        lines(monkeypatch, "Who built the mill?\nAnd the tram?\n")
        out = run("ask", *arguments, "--json", *options)[1]
        assert [json.loads(line)["understood"] for line in out.splitlines()] == ["", understood]
    lines(monkeypatch, "Who built the mill?\nAnd the tram?\n")
    out, err = run("ask", *arguments, "--conversation")[1:]
    assert "understood as: Who built the tram?" in err
    assert "\nAnd the tram?\n" in out


def test_the_first_line_that_fails_ends(run, folder, monkeypatch):
    spanwise.open(folder).close()
    lines(monkeypatch, "Who?\nWhy?\n")
    code, out, err = run("ask", "--index", folder, "--retriever", "bm25")
    assert code == 1
    assert out == "Who?\n"
    assert err.count("no passages") == 1


class Terminal:
    """A `spanwise ask` at a pseudo terminal."""

    def __init__(self, *arguments: object, cache: Path) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "spanwise", "ask", *map(str, arguments)],
            stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True,
            preexec_fn=own_terminal,
            env={**os.environ, "TERM": "dumb", "NO_COLOR": "1", "SPANWISE_CACHE": str(cache)},
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def until(self, text: str, within_s: float = WAIT_S) -> str:
        """The output since the last call, up to and with this text; TimeoutError without it."""
        deadline = time.monotonic() + within_s
        while text not in self.seen:
            if not select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no {text!r} in {within_s} s, only {self.seen!r}")
            self.seen += os.read(self.master, 4096).decode("utf-8", "replace")
        shown, _, self.seen = self.seen.partition(text)
        return shown + text

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C until there is a new prompt: readline may miss one while it reads a key."""
        for _ in range(WAIT_S // KEY_S):
            self.type("\x03")
            with suppress(TimeoutError):
                self.until("? ", KEY_S)
                return
        pytest.fail(f"no prompt after Ctrl-C, only {self.seen!r}")

    def end(self) -> int:
        try:
            return self.process.wait(WAIT_S)
        finally:
            self.process.kill()
            os.close(self.master)


def own_terminal() -> None:
    """Makes stdin the controlling terminal, so that Ctrl-C is a signal; imports nothing after the fork."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_prompt_helps_answers_sees_new_commits_keeps_its_history_and_ends(arguments, folder, tmp_path):
    terminal = Terminal(*arguments, cache=tmp_path / "cache")
    terminal.until(HINT)
    terminal.until("? ")
    terminal.type("help\n")
    terminal.until(HINT)
    terminal.until("? ")
    terminal.type("Who built the mill?\n")
    assert "mill.md" in terminal.until("\n? ")
    terminal.type("xxxxx")
    terminal.until("xxxxx")
    terminal.interrupt()  # drops the typed text
    (folder / "quay.txt").write_text("The quay was built by Lo Marsh.\n")
    with spanwise.open(folder) as library:
        library.sync()
    terminal.type("Who built the quay?\n")
    assert "the index was updated: 4 documents" in terminal.until("quay.txt")
    terminal.until("\n? ")
    terminal.type("quit\n")
    assert terminal.end() == 0
    history = tmp_path / "cache" / "history"
    assert history.read_text().splitlines()[-2:] == ["Who built the quay?", "quit"]
    assert history.stat().st_mode & 0o077 == 0


def test_a_prompt_is_a_conversation_that_can_be_left(arguments, tmp_path):
    terminal = Terminal(*arguments, cache=tmp_path / "cache")
    terminal.until(HINT)
    terminal.until("? ")
    for typed, understood in (
        ("/as-typed", False),
        ("Who built the mill?", False),
        ("And the tram?", True),
        ("/as-typed", False),
        ("/new", False),
        ("And the weir?", False),
    ):
        terminal.type(f"{typed}\n")
        terminal.until(typed)
        shown = terminal.until("\n? ")
        assert ("understood as: Who built the tram?" in shown) == understood
        assert understood or "understood" not in shown
    terminal.type("quit\n")
    assert terminal.end() == 0


def test_what_is_typed_while_a_question_is_answered_is_the_next_question(arguments, tmp_path):
    terminal = Terminal(*arguments, cache=tmp_path / "cache")
    terminal.until(HINT)
    terminal.until("? ")
    terminal.type("Who built the mill?\n")
    deadline = time.monotonic() + WAIT_S
    while termios.tcgetattr(terminal.master)[3] & (termios.ICANON | termios.ECHO) != termios.ICANON:
        assert time.monotonic() < deadline, "what is typed is printed among the output"
        time.sleep(0.001)
    terminal.type("\nWho opened the tram?\nhalf")
    answer = terminal.until("\n? ")
    assert "mill.md" in answer
    assert "tram?" not in answer
    assert terminal.until("? Who opened the tram?").strip() in (
        "? Who opened the tram?",
        "Who opened the tram?",
    )
    assert "tram.txt" in terminal.until("\n? ")
    terminal.until("half")
    terminal.interrupt()
    terminal.type("quit\n")
    assert terminal.end() == 0
