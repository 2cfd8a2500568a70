"""The script that puts a reader beside published models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small_squad import written

from spanwise.pipelines.evaluation.result_folder import ResultFolder

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_published.py"


@pytest.fixture
def compared(tmp_path: Path):
    """Runs the script on our 70 F1 and on models of 90, 60 and 50, and one human of 95."""
    models = [{"name": f"m{f1}", "new-wiki_em": str(f1 - 10), "new-wiki_f1": str(f1)} for f1 in (60, 90, 50)]
    human = {"name": "h", "new-wiki_em": "80", "new-wiki_f1": "95"}
    path = written(tmp_path / "results.json", {"new-wiki": {"models": models, "humans": [human]}})
    with ResultFolder.start(tmp_path / "kept", "squad", {}) as folder:
        folder.finish({"builtin": {"exact_match": 61.0, "f1": 70.0}})

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPT), str(tmp_path / "kept"), "--published", str(path), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_ours_stands_between_the_models(compared) -> None:
    lines = compared("--every", "100").stdout.splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == ["h", "m90", "builtin", "m60", "m50"]
    assert lines[2] == "| ours, after 1 of 3 | builtin | 61.0 | 70.0 |"


def test_json_has_the_rank_among_models(compared) -> None:
    found = json.loads(compared("--json").stdout)
    assert (found["rank"], len(found["published"])) == ({"builtin": 2}, 4)


def test_an_unknown_set_is_named(compared) -> None:
    failed = compared("--set", "nyt")
    assert (failed.returncode, "no published results of 'nyt'" in failed.stderr) == (1, True)
