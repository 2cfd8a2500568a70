"""The rule by which passages are left unread: what it takes, and what a file of it may hold."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from spanwise.errors import ModelRejected
from spanwise.reader.evidence import Calibration, Calibrations, Stopping
from spanwise.types import Passage, ScoredSpan, Span

RULE = Stopping(first=8, of=20, margin=6.0, unread=0.4, changed=0.01)
FITTED = Calibration({"margin": 1.0}, 1.0, 0.0, 0.3, "d1", "nothing", stopping=RULE)
PASSAGE = Passage(1, "a.txt", 0, 3, "one")


def scored(score: float, null: float) -> ScoredSpan:
    return ScoredSpan(Span("a.txt", 0, 3, "one"), PASSAGE, score, null)


def test_one_span_of_that_margin_is_enough() -> None:
    assert RULE.is_enough([scored(3.0, 2.0), scored(7.0, 1.0)])
    assert not RULE.is_enough([scored(6.9, 1.0)])
    assert not RULE.is_enough([])


def test_without_a_null_score_nothing_is_enough() -> None:
    assert not RULE.is_enough([scored(99.0, math.nan)])


def test_it_comes_back_from_a_file_of_several_calibrations(tmp_path: Path) -> None:
    other = replace(FITTED, stopping=None)
    Calibrations(FITTED, {"bm25": other, "dense": FITTED}).save(tmp_path / "c.json")
    found = Calibrations.load(tmp_path / "c.json")
    assert [found.of(name).stopping for name in ("hybrid", "bm25", "dense")] == [RULE, None, RULE]


@pytest.mark.parametrize(
    "stored",
    [
        {"first": 8},
        {"first": 0, "of": 20, "margin": 1.0},
        {"first": 20, "of": 20, "margin": 1.0},
        {"first": "8", "of": 20, "margin": 1.0},
        {"first": 8, "of": 20, "margin": math.nan},
        {"first": 8, "of": 20, "margin": None},
        {"first": 8, "of": 20, "margin": 1.0, "luck": 1},
        [8, 20, 1.0],
        "all",
    ],
)
def test_what_is_no_rule_is_refused(tmp_path: Path, stored: object) -> None:
    FITTED.save(tmp_path / "c.json")
    record = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(record | {"stopping": stored}))
    with pytest.raises(ModelRejected, match="is not a calibration"):
        Calibration.load(tmp_path / "c.json")
