"""Without the extras, a folder is indexed, searched and asked with the built-in models."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ABSENT = ["torch", "transformers", "sentence_transformers", "sklearn", "scipy"]
START = f"""
import sys
sys.modules.update(dict.fromkeys({ABSENT}))
from spanwise.__main__ import main
main()
"""


def spanwise(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", START, *arguments]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `notes` are indexed with vectors."""
    root = tmp_path_factory.mktemp("light")
    (root / "notes").mkdir()
    (root / "notes" / "mill.txt").write_text("The mill was founded by Ada Farrow in 1841.\n")
    (root / "notes" / "weir.txt").write_text("The weir was raised in 1920.\n")
    assert spanwise(root, "index", "notes").returncode == 0
    return root


def test_a_question_is_answered_by_token_vectors(folder: Path) -> None:
    hits = json.loads(spanwise(folder, "search", "who founded the mill?", "notes", "--json").stdout)["hits"]
    assert (hits[0]["document"], *hits[0]["scores"]) == ("mill.txt", "colbert")
    assert "Ada Farrow" in spanwise(folder, "ask", "Who founded the mill?", "notes").stdout


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("search mill notes --rerank-model builtin", "models"),
        ("index notes --index dense --model base --colbert none", "models"),
        ("train reader --data notes --out out", "train"),
    ],
)
def test_a_verb_that_needs_an_extra_says_so_in_one_line(folder: Path, command: str, extra: str) -> None:
    run = spanwise(folder, *command.split())
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].endswith(f"; install it with: pip install 'spanwise[{extra}]'")
    assert "Traceback" not in run.stderr
