"""`eval folder`: verdicts on answers about a small folder, by a scripted reader."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.scripted_reader import by_margin, read_by

from spanwise.eval.questions import FolderQuestion
from spanwise.pipelines.evaluation.folder import (
    evaluate_folder,
    folder_figures,
    folder_record,
    index_bytes,
    printed_record,
)
from spanwise.types import AskOptions, Computed

BM25 = AskOptions(retriever="bm25")


def question(name: str, text: str, *answers: str, document: str = "mill.md") -> FolderQuestion:
    documents = (document,) if answers else ()
    return FolderQuestion(name, text, "factoid", answers, documents, bool(answers))


QUESTIONS = (
    question("q1", "Who built the mill?", "Ada Rook"),
    question("q2", "When does the tram run?", "every ten minutes", document="tram.txt"),
    question("n1", "Who sold the mill?"),
)


@pytest.fixture
def scripted(library, monkeypatch):
    """The reader proposes "Ada Rook" with a margin of 2, and of the tram "Ute Falk" with -2."""
    read_by(library, monkeypatch, ("Ada Rook", 3.0, 1.0), ("Ute Falk", 1.0, 3.0), calibration=by_margin(0.5))
    return library


def test_every_verdict_is_counted(scripted, tmp_path: Path) -> None:
    figures, records = evaluate_folder(scripted, QUESTIONS, ["bm25"], tmp_path / "out", BM25)
    counts = figures["bm25"]
    assert counts["questions"] == 3
    assert counts["right_top1"] == 1
    assert counts["false_answers"] == 1
    assert counts["by_type"]["absent"] == {"false answer": 1}
    assert counts["answer_recall@1"] == counts["answer_recall@20"] == 1.0
    assert counts["index_bytes"] == index_bytes(scripted, "bm25") > 0
    right, second, false = records
    assert right["verdict"] == "right"
    assert right["answer"]["text"] == "Ada Rook"
    assert right["answer"]["document"] == "mill.md"
    text = scripted.document("mill.md").text
    assert text[right["answer"]["start"] : right["answer"]["end"]] == "Ada Rook"
    assert second["verdict"] in ("wrong", "wrongly declined")
    assert false["verdict"] == "false answer"
    json.dumps(records)


def test_the_verdict_on_a_yes_no_question_is_counted_apart(scripted) -> None:
    asked = replace(QUESTIONS[0], type="yes-no", verdict="yes")
    [answer] = scripted.ask_many([asked.question], BM25)
    for verdict, shown, score in (("yes", 1.0, 1.0), ("no", 1.0, 0.0), (None, 0.0, None)):
        judged = replace(answer, best=replace(answer.best, verdict=verdict))
        figures = folder_figures([folder_record(asked, judged, (), 20, "bm25")])
        assert figures["right_top1"] == 1
        assert figures["verdict_shown"] == shown
        assert figures.get("verdict_right") == score


def test_a_span_alone_is_judged_apart_from_its_sentence(scripted) -> None:
    asked = replace(QUESTIONS[0], answers=("built in 1811 by Ada Rook",))
    [answer] = scripted.ask_many([asked.question], BM25)
    figures = folder_figures([folder_record(asked, answer, (), 20, "bm25")])
    assert figures["right_top1"] == figures["right_shown"] == 1
    assert figures["right_span"] == 0


@pytest.mark.parametrize(("place", "right"), [(0, 1), (1, 1), (2, 0)])
def test_two_candidates_of_a_declined_question_are_judged(scripted, place: int, right: int) -> None:
    [answer] = scripted.ask_many([QUESTIONS[0].question], BM25)
    wrong = replace(answer.best, span=replace(answer.best.span, document_id="tram.txt"))
    candidates = [wrong] * 3
    candidates[place] = answer.best
    declined = replace(answer, best=None, candidates=tuple(candidates))
    record = folder_record(QUESTIONS[0], declined, (), 20, "bm25")
    figures = folder_figures([record])
    assert figures["right_top1"] == 0
    assert figures["right_shown"] == right


def test_absent_questions_with_an_answer_or_candidates_are_counted(scripted) -> None:
    absent = QUESTIONS[2]
    [answer] = scripted.ask_many([absent.question], BM25)
    unsure = replace(answer, best=None, candidates=(answer.best,))
    nothing = replace(answer, best=None, candidates=())
    records = [
        folder_record(replace(absent, id=str(number)), outcome, (), 20, "bm25")
        for number, outcome in enumerate((answer, unsure, nothing, nothing))
    ]
    assert folder_figures(records)["absent_shown"] == 0.5


@pytest.mark.parametrize("has_cell", [True, False])
def test_a_computed_value_has_the_place_of_its_first_cell(scripted, has_cell: bool) -> None:
    [answer] = scripted.ask_many([QUESTIONS[0].question], BM25)
    first = answer.best if has_cell else None
    computed = replace(answer, best=None, computed=Computed("count", "2", (), first))
    printed = printed_record(folder_record(QUESTIONS[0], computed, (), 20, "bm25"))["answer"]
    assert printed["text"] == "2"
    place = {name: printed[name] for name in ("document", "start", "end") if name in printed}
    span = {"document": "mill.md", "start": answer.span.start, "end": answer.span.end}
    assert place == (span if has_cell else {})


def test_a_list_of_documents_is_answered_as_ask_answers_it(scripted) -> None:
    asked = question("q1", "Which documents mention the mill?", "1 document")
    figures, [record] = evaluate_folder(scripted, [asked], ["bm25"], None, BM25)
    assert record["answer"]["text"] == "1 document"
    assert not any(name.startswith("answer_recall") for name in figures["bm25"])


def test_an_interrupted_run_is_resumed_with_the_same_settings_alone(scripted, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_folder(scripted, QUESTIONS, ["bm25"], tmp_path / "out", BM25, stop)
    seen: list[tuple[int, int]] = []
    evaluate_folder(
        scripted, QUESTIONS, ["bm25"], tmp_path / "out", BM25, lambda stage, done, of: seen.append((done, of))
    )
    assert seen == [(3, 3)]
    with pytest.raises(ValueError, match=r"threshold = None, not 0\.9"):
        evaluate_folder(
            scripted, QUESTIONS, ["bm25"], tmp_path / "out", AskOptions(retriever="bm25", threshold=0.9)
        )
    with pytest.raises(ValueError, match="questions_digest"):
        evaluate_folder(scripted, QUESTIONS[:2], ["bm25"], tmp_path / "out", BM25)


def test_the_command_compares_retrievers(folder, run, encoder_folder, reader_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SPANWISE_INDEX_MODEL", encoder_folder)
    asked = {"question": "Who built the mill?", "answers": ["Ada Rook"], "documents": ["mil.md"]}
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps(asked | {"answerable": True}))
    assert run("index", folder)[0] == 0
    arguments = ("eval", "folder", folder, "--questions", questions, "--reader", reader_folder)
    code, out, err = run(*arguments, "--retriever", "bm25", "--out", "results", "--json")
    printed = json.loads(out)
    assert code == 0, err
    assert printed["questions"] == 1
    assert len(printed["records"]) == 1
    assert "1 documents that are not in the index: 'mil.md'" in err
    both = ("--retriever", "bm25", "--retriever", "hybrid")
    assert list(json.loads(run(*arguments, *both, "--json")[1])["systems"]) == ["bm25", "hybrid"]
    assert "right_top1" in run(*arguments, *both)[1]
