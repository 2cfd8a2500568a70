"""The small collection in each format."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_collections import WRITERS


@pytest.fixture(params=WRITERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, kind: str) -> Path:
    """A folder with the small collection in the format of `kind`."""
    WRITERS[kind](tmp_path / "toy")
    return tmp_path / "toy"
