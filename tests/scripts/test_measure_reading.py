"""The script that measures what leaving passages unread saves."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_squad import small_squad, written
from tiny_models import tiny_span_model

from spanwise.reader.evidence import Calibration
from spanwise.reader.load import CALIBRATION, load_reader

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def measure(tmp_path_factory):
    """Runs the script on a small file, with a calibrated reader of random weights."""
    place = tmp_path_factory.mktemp("reading")
    reader = tiny_span_model(place / "made")
    reader = Path(shutil.copytree(reader, place / "reader"))
    calibration = Calibration({"margin": 1.0}, 1.0, 0.0, 0.0, load_reader(str(reader)).digest, "nothing")
    calibration.save(reader / CALIBRATION)
    given = ("--data", written(place / "data.json", small_squad("1.1")), "--index", place / "index")

    def call(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ROOT / "scripts" / "measure_reading.py", *given, "--reader", reader, *more]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)

    return call


def test_a_rule_that_never_stops_shows_the_same_answers(measure):
    done = measure("--first", "1", "--margin", "1000", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rule"] == {"first": 1, "of": 20, "margin": 1000.0, "unread": 0.0, "changed": 0.0}
    assert found["questions"] == 3
    assert (found["stopped"], found["differ"]) == (0, 0)
    assert found["passages_read"] == found["passages_found"] > 0


def test_a_calibration_without_a_rule_is_named(measure):
    done = measure()
    assert done.returncode == 1
    assert "has no rule: give one by --first and --margin" in done.stderr
