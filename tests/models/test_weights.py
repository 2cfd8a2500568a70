"""What is shipped: small enough together, each with a model card that says what it is."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

WEIGHTS = Path(str(files("spanwise.models") / "weights"))
FOLDERS = sorted(path for path in WEIGHTS.iterdir() if path.is_dir())
MOST_BYTES = 40_000_000


def test_all_weights_together_take_at_most_40_mb():
    assert sum(path.stat().st_size for path in WEIGHTS.rglob("*") if path.is_file()) <= MOST_BYTES


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_weights_are_safetensors_with_a_model_card(folder):
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: apache-2.0\n")
    for section in ("## Recipe", "## Figures", "## Limits"):
        assert section in card
    assert {path.suffix for path in folder.iterdir()} <= {".safetensors", ".json", ".md"}
