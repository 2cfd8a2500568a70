"""Calibrations and their file, the rule of the early exit, and the features of comparison."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from spanwise.errors import ModelRejected
from spanwise.reader.evidence import Calibration, Calibrations, EarlyExit, plain_evidence
from spanwise.types import Passage, ScoredSpan, Span

PLAIN = Calibration({"margin": 2.0}, 0.5, -1.0, 0.3, "d1", "nothing")
OWN = replace(PLAIN, threshold=0.4, fitted_on="colbert")
RULE = EarlyExit(first=8, of=20, margin=6.0, unread=0.4, changed=0.01)


def test_saved_calibrations_load_unchanged(tmp_path: Path) -> None:
    full = replace(PLAIN, confidence_weights={"relevance": 0.5}, stopping=RULE)
    Calibrations(full, {"bm25": OWN}).save(tmp_path / "c.json")
    assert Calibrations.load(tmp_path / "c.json") == Calibrations(full, {"bm25": OWN})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 2}, "has format 2"),
        ({"weights": {"luck": 1.0}}, "has weights for .'luck'"),
        ({"confidence_weights": {"luck": 1.0}}, "has weights for .'luck'"),
        ({"retrievers": []}, "expected an object"),
        ({"retrievers": {"bm25": {}}}, "bm25 is not"),
        ({"weights": 1}, "is not a calibration"),
        ({"stopping": {"first": 8}}, "is not a calibration"),
        ({"stopping": {"first": 0, "of": 20, "margin": 1.0}}, "is not a calibration"),
        ({"stopping": {"first": 20, "of": 20, "margin": 1.0}}, "is not a calibration"),
        ({"stopping": {"first": 8, "of": 20, "margin": math.nan}}, "is not a calibration"),
        ({"stopping": {"first": 8, "of": 20, "margin": 1.0, "luck": 1}}, "is not a calibration"),
        ({"stopping": "all"}, "is not a calibration"),
    ],
)
def test_unusable_calibrations_are_refused_by_name(tmp_path: Path, change: dict, says: str) -> None:
    Calibrations(PLAIN).save(tmp_path / "c.json")
    record = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(record | change))
    with pytest.raises(ModelRejected, match=says):
        Calibrations.load(tmp_path / "c.json")


def test_a_retriever_has_its_own_and_the_others_the_fallback(tmp_path: Path) -> None:
    Calibrations(PLAIN).fitted(OWN, "colbert", False).save(tmp_path / "c.json")
    calibrations = Calibrations.load(tmp_path / "c.json")
    assert [calibrations.of(name) for name in ("colbert", "bm25+dense", "")] == [OWN, PLAIN, PLAIN]


def test_calibrations_of_other_weights_are_dropped() -> None:
    other = replace(OWN, reader="d2")
    assert Calibrations(PLAIN, {"bm25": OWN}).fitted(other, "colbert", True) == Calibrations(other)
    calibrations = Calibrations(PLAIN, {"bm25": OWN}).fitted(other, "colbert", False)
    assert calibrations == Calibrations(other, {"colbert": other})


def test_an_entry_of_another_reader_is_refused(tmp_path: Path) -> None:
    Calibrations(PLAIN, {"bm25": replace(OWN, reader="d2")}).save(tmp_path / "c.json")
    with pytest.raises(ModelRejected, match="bm25 is of another reader"):
        Calibrations.load(tmp_path / "c.json")


def scored(score: float, null: float) -> ScoredSpan:
    return ScoredSpan(Span("a.txt", 0, 3, "one"), Passage(1, "a.txt", 0, 3, "one"), score, null)


def test_relevance_counts_where_a_reader_gives_it() -> None:
    assert plain_evidence(scored(3.0, 2.0)) == 1.0
    assert plain_evidence(replace(scored(3.0, 2.0), relevance=-4.0)) == -3.0
    assert not RULE.is_enough([scored(9.0, math.nan)])


def test_one_span_of_that_margin_is_enough() -> None:
    assert RULE.is_enough([scored(3.0, 2.0), scored(7.0, 1.0)])
    assert not RULE.is_enough([scored(6.9, 1.0)])
    assert not RULE.is_enough([])
