"""One file holds the calibration of a reader behind every retriever, and those behind a single one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spanwise.errors import ModelRejected
from spanwise.reader.evidence import FEATURES, Calibration, Calibrations

PLAIN = Calibration(dict.fromkeys(FEATURES, 1.0), 1.0, -2.0, 0.3, "d1", "hybrid")
OWN = replace(PLAIN, threshold=0.4, fitted_on="colbert")


def test_a_retriever_has_its_own_and_the_others_the_fallback(tmp_path: Path) -> None:
    Calibrations(PLAIN).fitted(OWN, "colbert", False).save(tmp_path / "c.json")
    found = Calibrations.load(tmp_path / "c.json")
    assert [found.of(name) for name in ("colbert", "bm25+dense", "")] == [OWN, PLAIN, PLAIN]


def test_a_file_of_one_calibration_holds_for_every_retriever(tmp_path: Path) -> None:
    PLAIN.save(tmp_path / "c.json")
    Calibrations(PLAIN).save(tmp_path / "same.json")
    assert Calibrations.load(tmp_path / "c.json") == Calibrations(PLAIN)
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "same.json").read_bytes()


def test_a_new_fallback_takes_the_place_of_the_entry_for_the_same_retriever() -> None:
    both = Calibrations(PLAIN, {"colbert": OWN, "bm25": OWN})
    newer = replace(OWN, threshold=0.5)
    assert both.fitted(newer, "colbert", True) == Calibrations(newer, {"bm25": OWN})
    assert both.fitted(newer, "bm25", False) == Calibrations(PLAIN, {"colbert": OWN, "bm25": newer})


def test_what_was_fitted_for_other_weights_is_dropped() -> None:
    other = replace(OWN, reader="d2")
    assert Calibrations(PLAIN, {"bm25": OWN}).fitted(other, "colbert", True) == Calibrations(other)
    found = Calibrations(PLAIN, {"bm25": OWN}).fitted(other, "colbert", False)
    assert found == Calibrations(other, {"colbert": other})


@pytest.mark.parametrize(
    ("retrievers", "says"),
    [([], "expected an object"), ({"bm25": 1}, "bm25 is not"), ({"bm25": {}}, "bm25 is not")],
)
def test_what_is_no_calibration_is_refused_by_name(tmp_path: Path, retrievers: object, says: str) -> None:
    PLAIN.save(tmp_path / "c.json")
    record = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(record | {"retrievers": retrievers}))
    with pytest.raises(ModelRejected, match=says):
        Calibrations.load(tmp_path / "c.json")


def test_an_entry_of_another_reader_is_refused(tmp_path: Path) -> None:
    Calibrations(PLAIN, {"bm25": replace(OWN, reader="d2")}).save(tmp_path / "c.json")
    with pytest.raises(ModelRejected, match="bm25 is of another reader"):
        Calibrations.load(tmp_path / "c.json")
