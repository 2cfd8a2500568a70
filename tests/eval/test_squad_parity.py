"""Parity with the official scripts on published predictions; needs SPANWISE_DATA."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from spanwise.pipelines.cli import main

DATA = Path(os.environ.get("SPANWISE_DATA", "/nonexistent"))
OFFICIAL = DATA / "squad-official"
# SCORES.json holds what the script prints without --out-image-dir; these are what it adds with it.
PRECISION_RECALL = {
    "v2.0-bert-single": (37.02879675231181, 43.22684583216344, 61.905078677893535),
    "v2.0-bidaf-selfattention-elmo": (25.381476709931217, 28.97929944677961, 57.316218187622404),
    "v2.0-nlnet-single": (32.649188778585, 38.32322039710455, 61.0443855524328),
}
QUICK = ("v1.1-logistic-regression", "v2.0-bert-single", "v2.0-bert-single+na_prob")
pytestmark = pytest.mark.skipif(
    not OFFICIAL.is_dir(), reason="SPANWISE_DATA does not name a folder with squad-official"
)


def published(name: str) -> dict[str, Any]:
    return dict(json.loads((OFFICIAL / "SCORES.json").read_text())[name])


def with_na_probabilities(name: str) -> dict[str, float]:
    averages = zip(("pr_exact_ap", "pr_f1_ap", "pr_oracle_ap"), PRECISION_RECALL[name], strict=True)
    return {**published(f"{name}+na_prob"), **dict(averages)}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.reliability)
        for name in (json.loads((OFFICIAL / "SCORES.json").read_text()) if OFFICIAL.is_dir() else [])
    ],
)
def test_the_command_line_prints_every_published_figure(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stem, _, extra = name.partition("+")
    arguments = [
        "--data",
        DATA / "squad" / f"dev-{name[:4]}.json.gz",
        "--predictions",
        OFFICIAL / f"{stem}.json.gz",
    ]
    if extra:
        arguments += ["--na-probs", OFFICIAL / f"{stem}.na_prob.json.gz"]
    with pytest.raises(SystemExit) as stopped:
        main(["eval", "squad", *map(str, arguments), "--json"])
    expected = with_na_probabilities(stem) if extra else published(name)
    missing = expected.pop("_unanswered_warnings", 0)
    out, err = capsys.readouterr()
    assert stopped.value.code == 0
    assert json.loads(out) == pytest.approx(expected, abs=1e-9)
    assert err.startswith(f"{missing} of 10,570 questions have no prediction") if missing else not err
