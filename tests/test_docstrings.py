"""The examples in docstrings print the results that they show."""

import doctest
import importlib
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = PYPROJECT["tool"]["setuptools"]["package-dir"]
WITH_EXAMPLES = [
    package if path.stem == "__init__" else f"{package}.{path.stem}"
    for package, folder in FOLDERS.items()
    for path in sorted((ROOT / folder).glob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", [*WITH_EXAMPLES, "no_network"])
def test_docstring_examples_are_true(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
