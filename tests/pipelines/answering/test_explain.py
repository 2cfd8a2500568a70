"""An explanation: the evidence adds up, ranks are those of the stages, a lost document is followed."""

import json
import math
from dataclasses import replace
from functools import partial

import pytest
from helpers.scripted_reader import asker, by_margin, read_by

from spanwise.errors import DocumentNotFound
from spanwise.pipelines.answering.explain import StageRank, _verdict, explained
from spanwise.pipelines.json_records import explanation_record
from spanwise.pipelines.understanding.question import Question
from spanwise.types import AskOptions, Filter, ScoredSpan, Spelling

QUESTION = "Who built the mill with stones?"
BOTH = {"question": "Who opened the tram or built the mill?"}


@pytest.fixture
def read(library, monkeypatch):
    """The library with a reader that finds Ada Rook, and Ute Falk with a lower score."""
    read_by(library, monkeypatch, ("Ada Rook", 6.0, 0.0), ("Ute Falk", 2.0, 0.0))
    return library


def explain(library, document=None, question=QUESTION, **changes):
    return library.explain(question, document=document, **{"retriever": "bm25", **changes})


def test_the_evidence_is_the_sum_of_its_features(read):
    explanation = explain(read)
    assert explanation.best.answer.text == "Ada Rook"
    assert explanation.rank == 1
    contributions = [part.contribution for part in explanation.best.contributions]
    assert explanation.best.evidence == 6.0
    assert math.fsum(contributions) == explanation.best.evidence
    assert explanation.formula is None


def test_the_rank_of_the_answer_is_shown_for_each_stage(read):
    explanation = explain(read, retriever="bm25+tfidf")
    assert [(rank.stage, rank.rank) for rank in explanation.ranks] == [("bm25", 1), ("tfidf", 1)]
    [hit, *_] = read.search(QUESTION, retriever="bm25")
    assert explanation.ranks[0].score == hit.score


def test_the_record_of_an_explanation_is_json_with_the_answer(read):
    record = explanation_record(explain(read, "tram.txt"))
    assert json.loads(json.dumps(record)) == record
    assert record["answer"]["text"] == "Ada Rook"
    assert record["explanation"]["evidence"]["features"]["margin"]["contribution"] == 6.0
    assert record["document"]["document"] == "tram.txt"


@pytest.mark.parametrize(
    ("document", "changes", "stage"),
    [
        ("mill.md", {}, "answer"),
        ("tram.txt", BOTH, "alternative"),
        ("tram.txt", {**BOTH, "alternatives": 0}, "outscored"),
        ("tram.txt", {"where": Filter(paths=("*.md",))}, "filtered"),
        ("tram.txt", {"k": 1}, "not retrieved"),
        ("weir.html", {"question": "Who raised the weir or built the mill?"}, "not proposed"),
    ],
)
def test_a_document_is_followed_to_its_last_stage(read, document, changes, stage):
    fate = explain(read, document, **changes).document
    assert fate.stage == stage
    assert fate.reason


def test_a_declined_document_has_its_reason(library, monkeypatch):
    read_by(library, monkeypatch, ("Ada Rook", 1.0, 5.0))
    fate = explain(library, "mill.md").document
    assert fate.stage == "declined"
    assert "its evidence is 4.00 below that of “no answer”" in fate.reason


def test_a_document_declined_for_its_relevance_has_the_reason(library, monkeypatch):
    monkeypatch.setattr("helpers.scripted_reader.ScoredSpan", partial(ScoredSpan, relevance=-12.0))
    read_by(library, monkeypatch, ("Ada Rook", 5.0, 0.0))
    assert "its evidence is 7.00 below that of “no answer”" in explain(library, "mill.md").document.reason


def test_the_advised_threshold_shows_the_answer_to_a_follow_up(library):
    question = Question(
        Spelling("Who sold it?", understood="Who sold it? (mill)"), library.snapshot, library.analyzer
    )
    declined = asker(library, ("Ada Rook", 0.9, 0.0), calibration=by_margin(0.6))
    fate = explained(declined, question, [], "mill.md").document
    assert fate.reason.endswith("confidence 71.1% is below the threshold 80.0%")
    advised = AskOptions(threshold=float(fate.advice.split()[-1]))
    [answer] = replace(declined, options=advised).answer([question])
    assert answer.text == "Ada Rook"


@pytest.mark.parametrize(("document", "stage"), [("mill.md", "answer"), ("tram.txt", "not retrieved")])
def test_a_list_of_documents_is_explained_as_it_is_answered(read, document, stage):
    explanation = explain(read, document, "Which documents mention the mill?")
    assert [each.document_id for each in explanation.answer.computed.documents] == ["mill.md"]
    assert explanation.document.stage == stage


@pytest.mark.parametrize(
    ("field", "stage"),
    [("parts", "answer"), ("best", "answer"), ("otherwise", "alternative"), ("alternatives", "alternative")],
)
def test_a_document_whose_words_are_shown_is_not_outscored(read, field, stage):
    [trace] = read.answerer(retriever="bm25").trace([BOTH["question"]])
    others = trace.answer.alternatives
    agreeing = replace(trace.answer.best, also_in=others)
    shown = {"parts": others, "best": agreeing, "otherwise": others, "alternatives": (agreeing,)}[field]
    answer = replace(trace.answer, **{"alternatives": (), field: shown})
    assert _verdict(replace(trace, answer=answer), "tram.txt", True, StageRank("bm25", 2))[0] == stage


def test_files_that_are_not_documents_are_named(read, folder):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    read.sync(vectors=False)
    (folder / "new.txt").write_text("The mill.")
    assert explain(read, "broken.pdf").document.stage == "rejected"
    assert explain(read, str(folder / "new.txt")).document.stage == "not indexed"
    with pytest.raises(DocumentNotFound, match=r"nearest are mill\.md"):
        explain(read, "mil.md")


def test_without_passages_there_is_nothing_to_explain(read):
    explanation = explain(read, question="zebra?")
    assert explanation.best is None
    assert explanation.ranks == ()
    assert explanation.answer.best is None
