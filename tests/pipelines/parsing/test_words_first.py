"""Words answer while vectors are being made: none of them there, some, all; also after an interruption."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.scripted_reader import read_by
from helpers.word_encoders import WordEncoder

import spanwise
from spanwise.pipelines.parsing import sync

QUESTION = "mill stones"


@pytest.fixture
def notes(tmp_path, words, monkeypatch):
    """A folder of twelve notes that are encoded four at a time."""
    monkeypatch.setattr(sync, "SAMPLED", (4, 4))
    monkeypatch.setattr(sync, "TOKENS_PER_COMMIT", 4)
    (tmp_path / "notes").mkdir()
    for number in range(12):
        text = (
            f"# Note {number}\n\nThe mill turns {'stones' if number == 11 else 'wheels'} in room {number}.\n"
        )
        (tmp_path / "notes" / f"n{number:02}.md").write_text(text, encoding="utf-8")
    return tmp_path / "notes"


def stop_after(words, monkeypatch, n):
    """Interrupts the encoder before its part number n."""
    encoder = words["builtin"]
    parts = []
    encode = encoder.encode_passages

    def interrupted(texts, report=lambda done: None):
        parts.append(texts)
        if len(parts) > n:
            raise KeyboardInterrupt
        return encode(texts, report)

    monkeypatch.setattr(encoder, "encode_passages", interrupted)
    return lambda: monkeypatch.setattr(encoder, "encode_passages", encode)


@pytest.mark.parametrize(
    ("parts", "retriever", "partial"),
    [
        (0, "bm25", "vectors for 0 of 12 passages; the others are ranked by words"),
        (1, "bm25+colbert", "vectors for 4 of 12 passages; the others are ranked by words"),
        (3, "colbert", ""),
    ],
)
def test_a_question_is_answered_with_the_vectors_that_are_there(
    notes, words, monkeypatch, parts, retriever, partial
):
    with spanwise.open(notes) as library:
        read_by(library, monkeypatch, ("stones", 9.0, 0.0))
        library.sync(vectors=False)
        go_on = stop_after(words, monkeypatch, parts)
        try:
            library.encode()
        except KeyboardInterrupt:
            go_on()
        answer = library.ask(QUESTION, threshold=0.0)
        assert answer.best.span.document_id == "n11.md"
        assert answer.retriever == retriever
        assert answer.left_out == partial
        assert library.search(QUESTION)[0].passage.document_id == "n11.md"
        assert library.default_retriever == retriever
        assert library.left_out() == partial
        assert library.left_out(retriever="bm25") == ""
        library.encode()
        assert library.ask(QUESTION, threshold=0.0).retriever == "colbert"


def test_vectors_of_an_older_model_do_not_count(notes, words):
    with spanwise.open(notes) as library:
        library.sync()
        assert library.default_retriever == "colbert"
    words["builtin"] = WordEncoder("newer words")
    with spanwise.open(notes) as library:
        assert library.default_retriever == "bm25"
        assert library.search(QUESTION)[0].passage.document_id == "n11.md"
        assert library.left_out() == "vectors for 0 of 12 passages; the others are ranked by words"
        assert library.missing_vectors() == library.status()["colbert"]["missing"] == 12
        library.encode()
        assert library.default_retriever == "colbert"
        assert library.missing_vectors() == 0


def test_the_answer_comes_before_the_vectors(notes, words, run, monkeypatch):
    monkeypatch.setattr("spanwise.pipelines.cli.index.AT_ONCE", 3)
    code, out, err = run("search", QUESTION, notes, "--no-wait", "--json")
    record = json.loads(out)
    assert code == 0
    assert record["retriever"] == "bm25"
    assert record["hits"][0]["document"] == "n11.md"
    assert f"partial: {record['partial']}" in err
    assert words["builtin"].encoded == []
    stop_after(words, monkeypatch, 1)
    code, out, err = run("search", QUESTION, notes)
    assert code == 0, out
    assert "n11.md" in out.splitlines()[0], out
    assert "vectors for 4 of 12 passages" in err.splitlines()[-1]
    assert "spanwise index --index" in err


def test_a_killed_process_leaves_the_vectors_that_it_made(notes, words):
    script = (
        "import sys, os, signal, spanwise\n"
        "from spanwise.models import encoder, model_files\n"
        "from spanwise.pipelines.parsing import sync\n"
        "from helpers.word_encoders import WordEncoder\n"
        "known, parts = WordEncoder('words'), []\n"
        "encoder.load_token_encoder = lambda name: known\n"
        "model_files.model_digest = lambda name, kind='encoder': 'words'\n"
        "sync.SAMPLED = (4, 4)\nsync.TOKENS_PER_COMMIT = 4\n"
        "encode = known.encode_passages\n"
        "def dying(texts, report=lambda done: None):\n"
        "    parts.append(texts)\n"
        "    if len(parts) > 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return encode(texts, report)\n"
        "known.encode_passages = dying\n"
        "with spanwise.open(sys.argv[1]) as library: library.sync(workers=1)\n"
    )
    tests = str(Path(__file__).parents[2])
    code = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n{script}", str(notes)]
    )
    assert code.returncode == -signal.SIGKILL
    with spanwise.open(notes) as library:
        assert library.search(QUESTION)[0].passage.document_id == "n11.md"
        assert library.left_out().startswith("vectors for 8 of 12 passages")
        library.sync()
        assert library.left_out() == ""
        assert library.default_retriever == "colbert"
