"""Parity with the official scripts on published predictions; needs SPANWISE_DATA."""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spanwise.eval.predictions import read_na_probabilities, read_predictions
from spanwise.eval.squad import score_v1, score_v2, unanswered
from spanwise.eval.squad_na_probability import score_v2_with_na

DATA = Path(os.environ.get("SPANWISE_DATA", "/nonexistent"))
OFFICIAL = DATA / "squad-official"
pytestmark = pytest.mark.skipif(
    not OFFICIAL.is_dir(), reason="SPANWISE_DATA does not name a folder with squad-official"
)


@cache
def golds(version: str) -> dict[str, list[str]]:
    with gzip.open(DATA / "squad" / f"dev-{version}.json.gz", "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    return {
        qa["id"]: [answer["text"] for answer in qa["answers"]]
        for article in articles
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    }


def published(name: str) -> dict[str, Any]:
    return dict(json.loads((OFFICIAL / "SCORES.json").read_text())[name])


@pytest.mark.parametrize(
    "name", [f"v1.1-{team}" for team in ("bert-ensemble", "logistic-regression", "slqa-ensemble")]
    + ["v1.1-match-lstm-ensemble", "v1.1-r-net-ensemble"],
)  # fmt: skip
def test_v1_equals_the_official_script(name: str) -> None:
    predictions = read_predictions(OFFICIAL / f"{name}.json.gz")
    expected = published(name)
    assert len(unanswered(golds("v1.1"), predictions)) == expected.pop("_unanswered_warnings")
    assert score_v1(golds("v1.1"), predictions) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["v2.0-bert-single", "v2.0-bidaf-selfattention-elmo", "v2.0-nlnet-single"])
def test_v2_equals_the_official_script(name: str) -> None:
    predictions = read_predictions(OFFICIAL / f"{name}.json.gz", required_ids=golds("v2.0"))
    assert score_v2(golds("v2.0"), predictions) == pytest.approx(published(name), abs=1e-9)
    na_probabilities = read_na_probabilities(OFFICIAL / f"{name}.na_prob.json.gz", required_ids=golds("v2.0"))
    result = score_v2_with_na(golds("v2.0"), predictions, na_probabilities)
    assert result == pytest.approx(published(f"{name}+na_prob"), abs=1e-9)
