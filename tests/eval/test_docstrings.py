"""The worked examples in the docstrings of eval/ hold."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import spanwise.eval

MODULES = sorted(path.stem for path in Path(spanwise.eval.__file__).parent.glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    module = importlib.import_module(f"spanwise.eval.{name}")
    assert doctest.testmod(module).failed == 0
