"""Transformers of other families than BERT load and give the vectors of their library's own classes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from made_encoders import HIDDEN, SIZES, saved
from transformers import AutoTokenizer

from spanwise.models.encoder import load_encoder

TEXTS = ["a mill", "The word is long: brewery", "weir " * 60]
POSITIONS = {"max_position_embeddings": 64}


def network(family: str):
    import transformers

    sizes: dict[str, object] = SIZES | POSITIONS | {"pad_token_id": 0}
    if family == "DistilBert":
        sizes = {
            "vocab_size": SIZES["vocab_size"],
            "dim": HIDDEN,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 64,
        }
        sizes |= POSITIONS
    if family == "ModernBert":
        sizes |= {"bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}
    config = getattr(transformers, f"{family}Config")(**sizes)
    return getattr(transformers, f"{family}Model")(config)


@pytest.mark.parametrize(
    ("family", "n_tokens"),
    [("Roberta", 63), ("DistilBert", 64), ("MPNet", 62), ("Electra", 64), ("ModernBert", 64), ("Albert", 64)],
)
def test_vectors_are_the_means_of_the_librarys_states(tmp_path, monkeypatch, family, n_tokens):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)
    model = network(family).eval()
    folder = str(saved(model, tmp_path))
    encoder, tokenizer = load_encoder(folder, device="cpu"), AutoTokenizer.from_pretrained(folder)
    assert encoder.max_length == n_tokens
    for text, vector in zip(TEXTS, encoder.encode(TEXTS), strict=True):
        ids = tokenizer(text, truncation=True, max_length=n_tokens, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            mean = model(input_ids=ids).last_hidden_state[0].mean(dim=0).numpy()
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)
