"""What is written about a folder is judged: right, refused, carried by what it cites; it can be resumed."""

from __future__ import annotations

import json
from collections.abc import Generator as Pieces
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import spanwise
from spanwise.eval.question_set import FolderQuestion
from spanwise.pipelines.evaluation.result_folder import ResultFolder
from spanwise.pipelines.evaluation.written_folder import evaluate_written
from spanwise.pipelines.library import Library
from spanwise.pipelines.summarizing.writing import Writing
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.prompt import Prompt
from spanwise.reader.generation.protocol import Written


def question(id: str, asked: str, *answers: str) -> FolderQuestion:
    documents = ("mill.txt",) if answers else ()
    return FolderQuestion(id, asked, "factoid", answers, "", documents, bool(answers), False)


QUESTIONS = (
    question("year", "In which year did the mill burn down?", "1871"),
    question("owner", "Who owned the mill?", "Ada Rook"),
    question("absent", "How tall is the lighthouse of Skerry?"),
)


@dataclass
class Scripted:
    """Writes by the question; counts how often it was asked."""

    texts: dict[str, str]
    name: str = "scripted"
    digest: str = "1"
    room: int = 10_000
    asked: list[str] = field(default_factory=list)

    def n_tokens(self, prompt: Prompt) -> int:
        return len(prompt.fenced().split())

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        self.asked.append(prompt.question)
        text = self.texts[prompt.question]
        yield text
        return Written(text, Ended.END, len(text.split()))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "mill.txt").write_text(
        "The mill of Ower burned down in 1871. Ada Rook owned the mill and had it built again."
    )
    with spanwise.open(root) as library:
        library.sync()
        yield library


def scripted() -> Scripted:
    return Scripted(
        {
            QUESTIONS[0].question: "The mill burned down in 1871.",
            QUESTIONS[1].question: "Ada Rook owned the mill. The mill had 12 sails.",
            QUESTIONS[2].question: "The documents do not say.",
        }
    )


def test_what_a_generator_wrote_is_judged(library: Library, tmp_path: Path) -> None:
    writing = Writing(scripted(), Decoding())
    figures = evaluate_written(library, QUESTIONS, tmp_path / "out", "short", writing, True, retriever="bm25")
    counts = {
        name: figures[name] for name in ("questions", "answerable", "right", "refused", "rightly_declined")
    }
    assert counts == {"questions": 3, "answerable": 2, "right": 2, "refused": 0, "rightly_declined": 1}
    assert figures["said"] == 0.75  # one of two sentences of the second text was dropped
    assert figures["support_rate"] == figures["citation_recall"] == figures["citation_precision"] == 1
    assert figures["ms_per_token"] > 0
    [first, second, third] = ResultFolder.open(tmp_path / "out").records()
    assert first.prediction == "The mill burned down in 1871. [1]"
    assert first.evidence[0].text == "The mill of Ower burned down in 1871."
    assert (second.scores, third.scores) == ({"said": 0.5, "right": 1.0}, {"declined": 1.0})


def test_without_strict_an_unsupported_sentence_counts_against_it(library: Library, tmp_path: Path) -> None:
    writing = Writing(scripted(), Decoding())
    figures = evaluate_written(library, QUESTIONS, tmp_path / "out", "short", writing, retriever="bm25")
    assert figures["said"] == 1
    assert figures["support_rate"] == figures["citation_recall"] == pytest.approx(2 / 3)


def test_it_goes_on_and_writes_nothing_twice(library: Library, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    generator = scripted()
    given = ("short", Writing(generator, Decoding()), True, 20, "bm25")
    with pytest.raises(KeyboardInterrupt):
        evaluate_written(library, QUESTIONS, tmp_path / "out", *given, stop)
    figures = evaluate_written(library, QUESTIONS, tmp_path / "out", *given)
    assert generator.asked == [one.question for one in QUESTIONS[:2]]  # nothing is found for the third
    assert figures["questions"] == 3


def test_other_settings_are_not_mixed_into_a_folder(library: Library, tmp_path: Path) -> None:
    evaluate_written(library, QUESTIONS, tmp_path / "out", "short", retriever="bm25")
    with pytest.raises(ValueError, match="length"):
        evaluate_written(library, QUESTIONS, tmp_path / "out", "long", retriever="bm25")


def test_quotes_stand_on_what_they_cite(library: Library, tmp_path: Path) -> None:
    figures = evaluate_written(library, QUESTIONS, tmp_path / "out", retriever="bm25")
    assert figures["support_rate"] == figures["citation_recall"] == 1
    assert "ms_per_token" not in figures
    systems = json.loads((tmp_path / "out" / "metrics.json").read_text())["systems"]
    assert list(systems) == ["extractive"]


def test_the_command_asks_for_texts_or_for_a_folder(run, tmp_path: Path) -> None:
    for given in ((), ("docs",), ("--questions", "q.jsonl"), ("docs", "--data", "texts.jsonl")):
        code, out, err = run("eval", "generation", *given)
        assert (code, out) == (2, "")
        assert "give texts with --data, or a folder with --questions" in err


def test_the_command_writes_about_a_folder(run, tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "mill.txt").write_text("The mill of Ower burned down in 1871. Ada Rook owned it.")
    line = {
        "question": QUESTIONS[0].question,
        "answers": ["1871"],
        "documents": ["mill.txt"],
        "answerable": True,
    }
    (tmp_path / "q.jsonl").write_text(json.dumps(line))
    code, out, err = run("eval", "generation", "docs", "--questions", "q.jsonl", "--json")
    figures = json.loads(out)
    assert (code, figures["questions"], figures["right"], figures["citation_precision"]) == (0, 1, 1, 1), err
    code, out, _ = run("eval", "generation", "docs", "--questions", "q.jsonl")
    assert (code, "citation_precision   1.0000" in out) == (0, True)
    code, _, err = run("eval", "generation", "docs", "--questions", "q.jsonl", "--preset", "factual")
    assert (code, "decodes nothing" in err) == (2, True)
