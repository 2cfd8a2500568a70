"""A folder is judged question by question: with a scripted asker, and once from the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spanwise.eval.question_set import FolderQuestion
from spanwise.index.rows import FileState
from spanwise.models import cross_encoder_models
from spanwise.pipelines.ask import Asked
from spanwise.pipelines.evaluation import folder as judging
from spanwise.pipelines.evaluation.folder import evaluate_folder, evaluate_retrievers, unindexed_documents
from spanwise.pipelines.evaluation.folder_records import printed_record
from spanwise.pipelines.evaluation.index_bytes import index_bytes
from spanwise.pipelines.evaluation.result_folder import ResultFolder
from spanwise.pipelines.reranking import Reranking
from spanwise.reader.evidence import Stopping
from spanwise.types import Answer, AnswerSpan, Hit, Passage, RejectedSpan, Span

MILL = Passage(1, "mill.md", 100, 140, "The mill was built in 1811 by Ada Rook.\n")
TRAM = Passage(2, "tram.md", 0, 20, "The tram is yellow.\n")
QUESTIONS = (
    FolderQuestion("q1", "Who built the mill?", "factoid", ("Ada Rook",), "", ("mill.md",), True, False),
    FolderQuestion("q2", "Why is it yellow?", "why", ("because",), "", ("tram.md",), True, False),
    FolderQuestion("q3", "Who sold it?", "factoid", (), "", (), False, False),
    FolderQuestion("q4", "When was it built?", "factoid", ("1811",), "", ("mill.md",), True, False),
)


def shown(passage: Passage, words: str, confidence: float) -> AnswerSpan:
    at = passage.start + passage.text.index(words)
    span = Span(passage.document_id, at, at + len(words), words)
    sentence = Span(passage.document_id, passage.start, passage.end - 1, passage.text[:-1])
    return AnswerSpan(span, span, sentence, passage, None, 1, 3.5, confidence)


ANSWERS = {
    "Who built the mill?": ([shown(MILL, "Ada Rook", 0.9)], True),
    "Why is it yellow?": ([shown(TRAM, "yellow", 0.2)], False),
    "Who sold it?": ([shown(MILL, "Ada Rook", 0.5)], True),
    "When was it built?": ([shown(TRAM, "tram", 0.6), shown(MILL, "1811", 0.4)], True),
}


class ScriptedAsker:
    """Knows what it will say; `asked` is what it was asked, and `fails_at` a question that stops it."""

    def __init__(self, files: dict[str, str], fails_at: str = "") -> None:
        self.asked: list[str] = []
        self.fails_at = fails_at
        self.found = (Hit(TRAM, 2.0, 1), Hit(MILL, 1.0, 2))
        self.reader = SimpleNamespace(digest="d1")
        self.calibration = SimpleNamespace(threshold=0.3, stopping=None)
        states = {name: FileState(1, 0, sha256) for name, sha256 in files.items()}
        self.snapshot = SimpleNamespace(
            files=lambda: states,
            vector_models=lambda: {"m": 2},
            n_passages=2,
            sizes=lambda: {"codebook": 5, "postings": 100, "tokens": 4_000, "vectors": 20},
        )

    def trace(
        self, questions: Sequence[str], k: int, alternatives: int, threshold: float | None
    ) -> list[Asked]:
        if self.fails_at in questions:
            raise KeyboardInterrupt
        self.asked += questions
        return [Asked(self._answer(question), self.found, (), ()) for question in questions]

    def _answer(self, question: str) -> Answer:
        (first, *others), given = ANSWERS[question]
        nearest = (Hit(MILL, 2.0, 1), Hit(TRAM, 1.0, 2))
        return Answer(
            question=question,
            best=first if given else None,
            alternatives=tuple(others),
            documents_searched=2,
            passages_searched=2,
            passages_read=2,
            rejected=() if given else (RejectedSpan(first, 0.3, None),),
            unknown=(),
            nearest=nearest,
            retriever="bm25",
            timings_ms={"retrieve": 1.0, "read": 2.0},
        )


class ScriptedLibrary:
    """The asker of one collection of files."""

    def __init__(self, fails_at: str = "", **files: str) -> None:
        self.scripted = ScriptedAsker(files or {"mill.md": "a", "tram.md": "b"}, fails_at)
        self.snapshot = self.scripted.snapshot
        self.colbert = None
        self.store = SimpleNamespace(path=Path("/nonexistent"))
        self.reranked: list[dict[str, object]] = []

    def asker(self, retriever: str, **reranking: object) -> ScriptedAsker:
        reranking = {name: value for name, value in reranking.items() if name.startswith("rerank")}
        if not reranking:
            return self.scripted
        self.reranked.append({"retriever": retriever, **reranking})
        better = ScriptedAsker({})
        better.snapshot, better.found = self.snapshot, self.scripted.found[::-1]
        return better


def evaluate(out: Path, library: Any = None, **options: Any) -> dict[str, Any]:
    return evaluate_folder(library or ScriptedLibrary(), QUESTIONS, out, "bm25", **options)


def test_figures_count_every_verdict(tmp_path: Path) -> None:
    assert evaluate(tmp_path) == {
        "questions": 4,
        "right_top1": 1,
        "right_top3": 2,
        "false_answers": 1,
        "wrongly_declined": 1,
        "rightly_declined": 0,
        "answer_recall@1": 0.0,
        "answer_recall@5": pytest.approx(2 / 3),
        "answer_recall@20": pytest.approx(2 / 3),
        "ms_retrieve": 1.0,
        "ms": 3.0,
        "passages_read": 2.0,
        "by_type": {
            "absent": {"false answer": 1},
            "factoid": {"right": 1, "wrong": 1},
            "why": {"wrongly declined": 1},
        },
    }


def test_records_hold_what_was_proposed_and_what_was_near(tmp_path: Path) -> None:
    evaluate(tmp_path)
    right, declined, false, wrong = ResultFolder.open(tmp_path).records("bm25")
    assert (right.prediction, right.confidence, right.golds) == ("Ada Rook", 0.9, ("Ada Rook",))
    assert right.evidence[0].text[slice(*right.evidence[0].span or ())] == "Ada Rook"
    assert [one.document for one in right.evidence] == ["mill.md", "tram.md"]
    assert (declined.prediction, declined.confidence) == ("", 0.2)
    recall = dict.fromkeys(("answer_recall@1", "answer_recall@5", "answer_recall@20"), 0.0)
    assert declined.scores == {"right": 0.0, "right_top3": 0.0, "right_forced": 0.0} | recall
    assert (false.answerable, false.scores) == (False, {"declined": 0.0})
    found = {"answer_recall@1": 0.0, "answer_recall@5": 1.0, "answer_recall@20": 1.0}
    assert wrong.scores == {"right": 0.0, "right_top3": 1.0, "right_forced": 0.0} | found


def test_printed_records_place_the_answer_in_its_document(tmp_path: Path) -> None:
    evaluate(tmp_path)
    right, declined, *_ = map(printed_record, ResultFolder.open(tmp_path).records())
    assert right["answer"] == {
        "text": "Ada Rook",
        "confidence": 0.9,
        "document": "mill.md",
        "start": 130,
        "end": 138,
    }
    assert (declined["answer"], declined["verdict"]) == (None, "wrongly declined")
    json.dumps(right)


def test_a_stopped_evaluation_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "QUESTIONS_AT_ONCE", 2)
    with pytest.raises(KeyboardInterrupt):
        evaluate(tmp_path, ScriptedLibrary(fails_at="Who sold it?"))
    again = ScriptedLibrary()
    assert evaluate(tmp_path, again)["questions"] == 4
    assert again.scripted.asked == ["Who sold it?", "When was it built?"]
    assert [record.id for record in ResultFolder.open(tmp_path).records()] == ["q1", "q2", "q3", "q4"]


def test_records_do_not_depend_on_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(tmp_path / "1")
    monkeypatch.setattr(judging, "QUESTIONS_AT_ONCE", 8)
    evaluate(tmp_path / "8")
    assert list(ResultFolder.open(tmp_path / "1").records()) == list(
        ResultFolder.open(tmp_path / "8").records()
    )


def test_another_threshold_is_another_evaluation_and_the_fitted_one_is_named(tmp_path: Path) -> None:
    evaluate(tmp_path)
    assert ResultFolder.open(tmp_path).settings["threshold"] == 0.3
    with pytest.raises(ValueError, match=r"threshold = 0\.3, not 0\.5"):
        evaluate(tmp_path, threshold=0.5)


def test_another_rule_of_what_is_read_is_another_evaluation(tmp_path: Path) -> None:
    evaluate(tmp_path)
    library = ScriptedLibrary()
    library.scripted.calibration.stopping = Stopping(8, 20, 6.0)
    with pytest.raises(ValueError, match="stopping"):
        evaluate(tmp_path, library)


def test_changed_documents_are_refused(tmp_path: Path) -> None:
    evaluate(tmp_path)
    with pytest.raises(ValueError, match="documents_digest"):
        evaluate(tmp_path, ScriptedLibrary(**{"mill.md": "a", "tram.md": "changed"}))


def test_changed_questions_are_refused(tmp_path: Path) -> None:
    evaluate(tmp_path)
    changed = [replace(QUESTIONS[0], answers=("Ute",)), *QUESTIONS[1:]]
    with pytest.raises(ValueError, match="questions_digest"):
        evaluate_folder(ScriptedLibrary(), changed, tmp_path, "bm25")  # type: ignore[arg-type]


def test_documents_that_are_not_in_the_index_are_counted() -> None:
    library: Any = ScriptedLibrary(**{"mill.md": "a"})
    assert unindexed_documents(library, [*QUESTIONS, QUESTIONS[1]]) == {"tram.md": 2}


@pytest.fixture(autouse=True)
def known_cross_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder_models, "cross_encoder_digest", lambda name: f"of {name}")


def both(out: Path, library: Any = None, **options: Any) -> dict[str, dict[str, Any]]:
    names = ["bm25", "bm25+rerank"]
    return evaluate_retrievers(library or ScriptedLibrary(), QUESTIONS, out, names, **options)


def test_several_systems_are_asked_the_same_and_compared_with_the_first(tmp_path: Path) -> None:
    library = ScriptedLibrary()
    figures = both(tmp_path, library, reranking=Reranking("mine", 7))
    assert ResultFolder.open(tmp_path).settings["rerank_digest"] == "of mine"
    assert library.reranked == [{"retriever": "bm25+rerank", "rerank": "mine", "rerank_depth": 7}]
    assert [each["answer_recall@1"] for each in figures.values()] == [0.0, pytest.approx(2 / 3)]
    apart = figures["bm25+rerank"]["against_bm25"]
    assert set(apart) == {"handled", "right", "answer_recall@20"}
    assert (apart["right"]["difference"], apart["right"]["p"], apart["right"]["wins"]) == (0.0, 1.0, 0)
    assert "against_bm25" not in figures["bm25"]
    assert ResultFolder.open(tmp_path).metrics["systems"] == json.loads(json.dumps(figures))


def test_a_comparison_that_was_stopped_goes_on_with_the_system_it_was_at(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        both(tmp_path, ScriptedLibrary(fails_at="Who sold it?"))
    again = ScriptedLibrary()
    assert [each["questions"] for each in both(tmp_path, again).values()] == [4, 4]
    assert again.scripted.asked == ["Who sold it?", "When was it built?"]
    with pytest.raises(ValueError, match="was begun with"):
        evaluate(tmp_path)


def test_recall_is_told_for_the_depths_that_were_searched(tmp_path: Path) -> None:
    names = [name for name in evaluate(tmp_path, k=5) if name.startswith("answer_recall")]
    assert names == ["answer_recall@1", "answer_recall@5"]


@pytest.mark.parametrize(
    ("name", "size"),
    [("bm25", 100), ("hybrid", 120), ("colbert", 4_005), ("bm25+dense+colbert+rerank", 4_125)],
)
def test_bytes_are_of_what_the_retriever_needs(name: str, size: int) -> None:
    library: Any = ScriptedLibrary()
    assert index_bytes(library, name) == size


def test_several_retrievers_from_the_command_line(
    folder, run, encoder_folder, reader_folder, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("SPANWISE_INDEX_MODEL", encoder_folder)
    questions = tmp_path / "questions.jsonl"
    asked = {"question": "Who built the mill?", "answers": ["Ada Rook"], "documents": ["mill.md"]}
    absent = {"question": "Who sold the tram?", "answers": [], "documents": [], "answerable": False}
    questions.write_text("\n".join(map(json.dumps, [asked | {"answerable": True}, absent])))
    assert run("index", folder)[0] == 0
    arguments = ("eval", "folder", folder, "--questions", questions, "--reader", reader_folder)
    arguments += ("--retriever", "bm25", "--retriever", "hybrid", "--out", "results")
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    printed = json.loads(out)
    assert list(printed["systems"]) == ["bm25", "hybrid"]
    assert {record["system"] for record in printed["records"]} == {"bm25", "hybrid"}
    assert "handled" in printed["systems"]["hybrid"]["against_bm25"]
    plain = run(*arguments)[1].splitlines()
    assert plain[0].split() == ["of", "2", "questions", "bm25", "hybrid"]
    assert plain[-1].startswith("hybrid against bm25, answer_recall@20: ")


def test_from_the_command_line(folder, run, encoder_folder, reader_folder, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SPANWISE_INDEX_MODEL", encoder_folder)
    asked = {
        "question": "Who built the mill?",
        "answers": ["Ada Rook"],
        "documents": ["mil.md"],
        "answerable": True,
    }
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps(asked))
    assert run("index", folder)[0] == 0
    arguments = (
        "eval",
        "folder",
        folder,
        "--questions",
        questions,
        "--reader",
        reader_folder,
        "--retriever",
        "bm25",
    )
    code, out, err = run(*arguments, "--out", "results", "--json")
    printed = json.loads(out)
    assert (code, printed["questions"], len(printed["records"])) == (0, 1, 1)
    assert "not in the index (1, by number of questions): 'mil.md' in 1" in err
    assert (tmp_path / "results" / "report.html").exists()
    code, again, _ = run(*arguments, "--out", "results", "--json")
    assert json.loads(again) == printed
    code, plain, _ = run(*arguments)
    assert "right_top1" in plain
