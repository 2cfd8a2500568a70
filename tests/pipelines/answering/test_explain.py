"""An explanation: the evidence adds up, ranks are those of the stages, a lost document is followed."""

from __future__ import annotations

import json
import math

import pytest
from helpers.scripted_reader import read_by

from spanwise.errors import DocumentNotFound
from spanwise.pipelines.json_records import explanation_record
from spanwise.types import Filter

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
    found = explain(read)
    assert found.best.answer.text == "Ada Rook"
    assert found.rank == 1
    assert math.fsum(one.contribution for one in found.best.contributions) == found.best.evidence == 6.0
    assert found.formula is None


def test_ranks_are_those_of_each_stage(read):
    found = explain(read, retriever="bm25+tfidf")
    assert [(rank.stage, rank.rank) for rank in found.ranks] == [("bm25", 1), ("tfidf", 1)]
    [hit, *_] = read.search(QUESTION, retriever="bm25")
    assert found.ranks[0].score == hit.score


def test_the_record_is_json_with_the_answer(read):
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
    assert "4.00 higher" in fate.reason


def test_files_that_are_not_documents_are_named(read, folder):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    read.sync(vectors=False)
    (folder / "new.txt").write_text("The mill.")
    assert explain(read, "broken.pdf").document.stage == "rejected"
    assert explain(read, str(folder / "new.txt")).document.stage == "not indexed"
    with pytest.raises(DocumentNotFound, match=r"nearest are mill\.md"):
        explain(read, "mil.md")


def test_nothing_read_leaves_the_answer_alone(read):
    found = explain(read, question="zebra?")
    assert found.best is None
    assert found.ranks == ()
    assert found.answer.best is None
