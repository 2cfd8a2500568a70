"""Calibrations of both formats, the threshold for a promised error, and the features of comparison."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import ModelRejected
from spanwise.reader.evidence import Calibration, Features, leads, log_normaliser
from spanwise.reader.question_type import type_fit
from spanwise.types import Passage, ScoredSpan, Span

PLAIN = Calibration({"margin": 2.0}, 0.5, -1.0, 0.3, "d1", "nothing")
FEATURES = Features(3.0, 0.0, 0.0, 0.0, 0.0, log_share=-2.0)


def test_a_feature_without_a_weight_counts_nothing() -> None:
    assert PLAIN.evidence(FEATURES) == 6.0


def test_a_file_of_the_first_format_still_loads(tmp_path: Path) -> None:
    record = {"format": 1, "weights": {"margin": 2.0}, "slope": 0.5, "offset": -1.0, "threshold": 0.3}
    (tmp_path / "c.json").write_text(json.dumps(record | {"reader": "d1", "fitted_on": "nothing"}))
    assert Calibration.load(tmp_path / "c.json") == PLAIN


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    full = replace(PLAIN, confidence_weights={"lead": 0.5}, error_thresholds={"10": 0.6}, delta=0.05)
    full.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == full


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 3}, "has format 3"),
        ({"weights": {"luck": 1.0}}, "weighs .'luck'"),
        ({"confidence_weights": {"luck": 1.0}}, "weighs .'luck'"),
        ({"error_thresholds": {"some": 1.0}}, "weighs .'some'"),
        ({"weights": 1}, "is not a calibration"),
    ],
)
def test_what_this_version_cannot_use_is_refused_by_name(tmp_path: Path, change: dict, says: str) -> None:
    PLAIN.save(tmp_path / "c.json")
    record = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(record | change))
    with pytest.raises(ModelRejected, match=says):
        Calibration.load(tmp_path / "c.json")


def test_confidence_adds_what_the_fit_named() -> None:
    sure = replace(PLAIN, confidence_weights={"lead": 0.5, "log_share": 0.25})
    z = 0.5 * 6.0 - 1.0 + 0.5 * 4.0 + 0.25 * -2.0
    assert sure.confidence(6.0, FEATURES, 4.0) == pytest.approx(1 / (1 + math.exp(-z)))


def test_the_threshold_of_an_error_is_that_of_the_percentage_below() -> None:
    promised = replace(PLAIN, error_thresholds={"7": 0.8, "10": 0.7})
    found = [promised.threshold_for(error) for error in (0.07, 0.099, 0.1, 0.5)]
    assert found == [0.8, 0.8, 0.7, 0.7]
    with pytest.raises(ValueError, match=r"the least that can be promised is 0\.07"):
        promised.threshold_for(0.05)
    with pytest.raises(ValueError, match="expected a share"):
        promised.threshold_for(0)
    with pytest.raises(ModelRejected, match="promises no share of errors"):
        PLAIN.threshold_for(0.1)


def spans(*scores: float, null: float = math.nan) -> list[ScoredSpan]:
    passage = Passage(1, "a.txt", 0, 3, "one")
    return [ScoredSpan(Span("a.txt", 0, 3, "one"), passage, score, null) for score in scores]


def test_r13_one_softmax_keeps_the_order_of_raw_scores() -> None:
    """A has 6.0 and 5.5, B 2.0 and -3.0: within its own passage B would have 0.993307, A 0.622459."""
    whole = log_normaliser([spans(6.0, 5.5), spans(2.0, -3.0)])
    best_a, best_b = (math.exp(score - whole) for score in (6.0, 2.0))
    assert best_a == pytest.approx(0.615396, abs=1e-6)
    assert best_b == pytest.approx(0.011271, abs=1e-6)


def test_each_passage_has_its_null_in_the_sum_once() -> None:
    assert log_normaliser([spans(1.0, 1.0, null=1.0), [], spans(1.0)]) == pytest.approx(1 + math.log(4))
    assert log_normaliser([]) == -math.inf


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8), st.data())
def test_only_the_best_leads(evidence: list[float], data: st.DataObject) -> None:
    said = data.draw(st.lists(st.integers(0, 3), min_size=len(evidence), max_size=len(evidence)))
    found = leads(evidence, said)
    best = said[evidence.index(max(evidence))]
    assert max(found) == found[evidence.index(max(evidence))] >= 0
    assert all(lead <= 0 for lead, words in zip(found, said, strict=True) if words != best)


def test_without_a_rival_all_lead_alike() -> None:
    assert leads([-0.3, 0.1, 1e18], [0, 0, 0]) == [10.0, 10.0, 10.0]


@pytest.mark.parametrize(
    ("question", "answer", "fit"),
    [
        ("How many rooms has it?", "twelve", 1.0),
        ("How many rooms has it?", "the old mill", -1.0),
        ("In what year was it built?", "1811", 1.0),
        ("To whom was it sold?", "ADA ROOK", 1.0),
        ("Why was it shut?", "the frost", 0.0),
    ],
)
def test_the_form_of_an_answer(question: str, answer: str, fit: float) -> None:
    assert type_fit(question, answer) == fit
