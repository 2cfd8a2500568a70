"""What docs/api.md and tests/public_api.txt say is what there is, and it reaches all that the shell does."""

from __future__ import annotations

import difflib
import runpy
from pathlib import Path
from typing import Any

import pytest

import spanwise

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "api_page.py"))
COMMAND = "python scripts/api_page.py"


def differences(path: Path, now: str) -> str:
    """What is not as it is written down, or the empty string."""
    then = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(difflib.unified_diff(then, now.splitlines(), "written down", "now", lineterm="", n=0))


def test_names_and_signatures_are_those_of_the_contract() -> None:
    assert differences(SCRIPT["CONTRACT"], SCRIPT["contract"]()) == "", f"if this is meant: {COMMAND}"


def test_the_page_is_current() -> None:
    assert differences(SCRIPT["PAGE"], SCRIPT["page"]()) == "", f"run: {COMMAND}"


def test_every_public_name_stands_on_the_page_once() -> None:
    described = [name for names in SCRIPT["GROUPS"].values() for name in names]
    namespaces = {"errors", "evaluation", "training", "__version__"}
    assert sorted(described) == sorted(set(spanwise.__all__) - namespaces)


def test_every_public_name_says_what_it_is() -> None:
    for module in (spanwise, spanwise.evaluation, spanwise.training):
        for name in set(module.__all__) - {"__version__"}:
            text = getattr(module, name).__doc__
            assert text, name
            assert not text.startswith(f"{name}("), name  # which dataclass writes itself


def leaves() -> list[str]:
    """Every command of the shell, as it is typed."""
    from spanwise.pipelines.cli.verbs import Verbs

    found = []
    for name, command in Verbs().items():
        found += [f"{name} {below}" for below in getattr(command, "commands", {})] or [name]
    return found


SERVERS = {"serve", "mcp"}  # which wait for others, and are made of the library


def test_nothing_is_possible_only_from_the_shell() -> None:
    assert set(leaves()) - SERVERS == set(SCRIPT["VERBS"])


@pytest.mark.parametrize("verb", SCRIPT["VERBS"])
def test_what_a_verb_does_has_public_names(verb: str) -> None:
    for name in SCRIPT["VERBS"][verb].split(", "):
        given: Any = spanwise
        for part in name.split("."):
            given = getattr(given, part)
        assert callable(given), name
        top = getattr(spanwise, name.split(".")[0])
        assert name.split(".")[0] in spanwise.__all__
        assert not hasattr(top, "__all__") or name.split(".")[1] in top.__all__


def test_a_changed_default_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(spanwise.Library, "search", lambda self, question, k=11: [])
    assert "k=11" in differences(SCRIPT["CONTRACT"], SCRIPT["contract"]())


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "spanwise" / "py.typed").is_file()
    assert 'spanwise" = ["py.typed"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
