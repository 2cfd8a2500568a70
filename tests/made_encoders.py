"""Tiny encoders in the layouts that others publish: sentence-transformers folders, routers, DPR pairs."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

HIDDEN = 32
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
VOCABULARY = [
    *SPECIAL,
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    ".",
    ",",
    ":",
    "?",
    "the",
    "mill",
    "word",
]
SIZES = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": HIDDEN,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}
KINDS = "sentence_transformers.models."


def bert(folder: Path, seed: int = 0, **changes) -> Path:
    """A BERT with random weights and layer normalisations that are not the identity."""
    from transformers import BertConfig, BertModel

    return saved(BertModel(BertConfig(**SIZES | {"max_position_embeddings": 64} | changes)), folder, seed)


def saved(network, folder: Path, seed: int = 0) -> Path:
    """The network with weights large enough that texts differ, as safetensors with a tokenizer."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            scale = 0.3 if weight.dim() > 1 else 0.1
            start = 1.0 if "Norm" in name and name.endswith("weight") else 0.0
            weight.copy_(start + scale * torch.randn(weight.shape, generator=generator))
    network.save_pretrained(folder)
    tokenizer(folder)
    return folder


def tokenizer(folder: Path) -> None:
    """A tokenizer of letters and a few words, which tells cases apart."""
    from transformers import BertTokenizerFast

    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    made = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False, model_max_length=512)
    made.save_pretrained(folder)


def dense(folder: Path, n_in: int, n_out: int, activation: str = "linear.Identity", seed: int = 0) -> Path:
    """A linear layer with random weights."""
    generator = torch.Generator().manual_seed(seed)
    config = {"in_features": n_in, "out_features": n_out, "bias": True}
    write(folder / "config.json", config | {"activation_function": f"torch.nn.modules.{activation}"})
    weight = torch.randn(n_out, n_in, generator=generator)
    bias = torch.randn(n_out, generator=generator)
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "model.safetensors")
    return folder


def sentence_model(
    folder: Path,
    pooling: str = "mean",
    layers: tuple[tuple[int, str], ...] = (),
    normalize: bool = False,
    model: dict | None = None,
    stated: dict | None = None,
    include_prompt: bool = True,
    seed: int = 0,
) -> Path:
    """A sentence-transformers folder: `layers` are sizes and activations, `model` holds prompts and more."""
    bert(folder, seed)
    kinds = ["Transformer", "Pooling", *["Dense"] * len(layers), *["Normalize"] * normalize]
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(kinds[1:], 1))]
    entries = [
        {"idx": n, "name": str(n), "path": path, "type": KINDS + kind}
        for n, (path, kind) in enumerate(zip(paths, kinds, strict=True))
    ]
    pooled = {"word_embedding_dimension": HIDDEN, "include_prompt": include_prompt, "pooling_mode": pooling}
    write(folder / "1_Pooling" / "config.json", pooled)
    width = HIDDEN
    for number, (n_out, activation) in enumerate(layers, 2):
        dense(folder / f"{number}_Dense", width, n_out, activation, seed)
        width = n_out
    if normalize:
        (folder / paths[-1]).mkdir()
    write(folder / "modules.json", entries)
    write(folder / "sentence_bert_config.json", stated or {})
    write(folder / "config_sentence_transformers.json", model or {})
    return folder


def router_model(folder: Path) -> Path:
    """A folder whose questions and passages go through different transformers and poolings."""
    types, structure = {}, {}
    for seed, (route, pooling) in enumerate({"query": "cls", "document": "mean"}.items(), 1):
        structure[route] = [f"{route}_0_Transformer", f"{route}_1_Pooling"]
        types |= {name: KINDS + name.rpartition("_")[2] for name in structure[route]}
        bert(folder / structure[route][0], seed)
        write(folder / structure[route][0] / "sentence_bert_config.json", {})
        pooled = {"word_embedding_dimension": HIDDEN, "pooling_mode": pooling}
        write(folder / structure[route][1] / "config.json", pooled)
    parameters = {"default_route": "document", "allow_empty_key": True, "route_mappings": {}}
    write(folder / "router_config.json", {"types": types, "structure": structure, "parameters": parameters})
    entries = [("", "Router"), ("1_Normalize", "Normalize")]
    write(
        folder / "modules.json",
        [
            {"idx": n, "name": str(n), "path": path, "type": KINDS + kind}
            for n, (path, kind) in enumerate(entries)
        ],
    )
    (folder / "1_Normalize").mkdir()
    return folder


def dpr_pair(folder: Path, projection_dim: int = 0, seed: int = 0) -> Path:
    """A folder with the two encoders of DPR, different ones, in `question` and `passage`."""
    from transformers import DPRConfig, DPRContextEncoder, DPRQuestionEncoder

    config = DPRConfig(**SIZES, max_position_embeddings=64, projection_dim=projection_dim)
    saved(DPRQuestionEncoder(config), folder / "question", 2 * seed)
    saved(DPRContextEncoder(config), folder / "passage", 2 * seed + 1)
    return folder


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
