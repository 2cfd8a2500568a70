from __future__ import annotations

import pytest


@pytest.fixture
def _light(monkeypatch):
    """Train the last layer and what follows it alone: checkpoints of the whole base take long to write."""

    def freeze(model):
        for name, parameter in model.named_parameters():
            parameter.requires_grad = not name.startswith("trunk.") or "layer.5." in name

    for trainer in ("cross_encoder", "student"):
        monkeypatch.setattr(f"spanwise.retrieval.training.{trainer}.freeze_word_embeddings", freeze)
