"""`benchmarks.baseline` keeps the figures of a part with its commit, and makes them once."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

from helpers.squad import small_squad

ROOT = Path(__file__).parents[2]


def test_a_part_is_measured_once_for_a_commit(tmp_path: Path) -> None:
    (tmp_path / "squad").mkdir()
    with gzip.open(tmp_path / "squad" / "dev-v1.1.json.gz", "wt") as file:
        json.dump(small_squad("1.1"), file)
    out = tmp_path / "baseline.json"
    only = ("--only", "squad-v1.1,precision", "--limit", "2")
    places = ("--data", tmp_path, "--out", out, "--work", tmp_path / "work")
    command = [sys.executable, "-m", "benchmarks.baseline", *only, *map(str, places)]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    assert "precision is left out: give --before" in first.stderr
    records = json.loads(out.read_text())
    [record] = records.values()
    assert record["figures"]["exact_match"] == 100
    assert record["command"].startswith("spanwise eval squad --data DATA/squad/dev-v1.1.json.gz --limit 2")
    assert len(record["commit"]) >= 40
    assert record["machine"]["cores"] > 0
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "squad-v1.1 is up to date" in second.stderr
    assert json.loads(out.read_text()) == records
