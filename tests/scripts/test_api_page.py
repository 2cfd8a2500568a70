"""docs/api.md and docs/cli.md are those of the code, and Python does what the command line does."""

import difflib
import runpy
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.cli.main import VERBS

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "api_page.py"))
IN_PYTHON = {
    "index": "Library.sync", "search": "Library.search", "ask": "Library.ask",
    "summarize": "Library.summarize", "status": "Library.status", "verify": "verify",
    "check": "Library.check", "calibrate": "training.calibrate",
    "eval squad": "evaluation.evaluate_squad", "eval open": "evaluation.evaluate_open",
    "eval retrieval": "evaluation.evaluate_retrieval", "eval folder": "evaluation.evaluate_folder",
    "eval compare": "evaluation.compare_results",
}  # fmt: skip


@pytest.mark.parametrize("path", SCRIPT["PAGES"], ids=lambda path: path.name)
def test_a_generated_page_is_current(path: Path) -> None:
    now = SCRIPT["PAGES"][path]().splitlines()
    there = path.read_text(encoding="utf-8").splitlines()
    changed = "\n".join(difflib.unified_diff(there, now, path.name, "code", lineterm="", n=0))
    assert changed == "", "run: python scripts/api_page.py"


@pytest.mark.parametrize("verb", IN_PYTHON)
def test_every_verb_has_a_public_function(verb: str) -> None:
    value = spanwise
    for part in IN_PYTHON[verb].split("."):
        assert part in getattr(value, "__all__", dir(value))
        value = getattr(value, part)
    assert callable(value)


def test_every_verb_is_listed() -> None:
    listed = {verb.split()[0] for verb in IN_PYTHON}
    assert set(VERBS) - {"serve", "mcp", "train"} == listed


def test_every_public_name_has_a_docstring_of_its_own() -> None:
    for module in (spanwise, spanwise.evaluation, spanwise.training):
        for name in set(module.__all__) - {"__version__"}:
            text = getattr(module, name).__doc__
            assert text, name
            assert not text.startswith(f"{name}("), name  # the text that dataclass writes
