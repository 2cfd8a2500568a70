"""Tiny cross-encoders in the layouts of others, and differences from the base, with random weights."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from made_encoders import HIDDEN, SIZES, saved, write

POSITIONS = 130


def classifier(folder: Path, family: str = "Bert", num_labels: int = 1, **changes) -> Path:
    """A sequence classification model of transformers."""
    import transformers

    sizes: dict[str, object] = SIZES | {"max_position_embeddings": POSITIONS, "pad_token_id": 0}
    if family == "DistilBert":
        sizes = {"vocab_size": SIZES["vocab_size"], "dim": HIDDEN, "n_layers": 2, "n_heads": 2}
        sizes |= {"hidden_dim": 64, "max_position_embeddings": POSITIONS}
    if family == "ModernBert":
        sizes |= {"bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}
    config = getattr(transformers, f"{family}Config")(**sizes | {"num_labels": num_labels} | changes)
    return saved(getattr(transformers, f"{family}ForSequenceClassification")(config), folder)


def sentence_classifier(folder: Path, model: dict | None = None, stated: dict | None = None) -> Path:
    """A CrossEncoder of sentence-transformers 6: `model` holds its prompts and activation."""
    classifier(folder)
    kind = "sentence_transformers.base.modules.transformer.Transformer"
    write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    plain = {"transformer_task": "sequence-classification", "module_output_name": "scores"}
    modality = {"text": {"method": "forward", "method_output_name": "logits"}}
    write(folder / "sentence_bert_config.json", plain | {"modality_config": modality} | (stated or {}))
    write(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder"} | (model or {}))
    return folder


def tuned_base(folder: Path, seed: int = 0) -> Path:
    """The base with one bias changed, and a head: as `spanwise train reranker` writes its folder."""
    from spanwise.models.cross_encoder_models import DELTA
    from spanwise.models.stored_model import save_tuned, tuned_trunk

    trunk, _ = tuned_trunk()
    generator = torch.Generator().manual_seed(seed)
    norm = trunk.embeddings.LayerNorm
    norm.bias = torch.nn.Parameter(norm.bias + 0.1 * torch.randn(norm.bias.shape, generator=generator))
    weight = torch.randn(1, trunk.config.hidden_size, generator=generator)
    save_tuned(folder / DELTA, trunk, {"head.weight": weight, "head.bias": torch.tensor([0.5])})
    return folder


def with_config(folder: Path, **changes) -> Path:
    """The folder with other settings in its config.json."""
    path = folder / "config.json"
    write(path, json.loads(path.read_text()) | changes)
    return folder
