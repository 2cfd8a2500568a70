"""Tiny late-interaction models in the layouts that others publish, with random weights."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from made_encoders import HIDDEN, SIZES, SPECIAL, VOCABULARY, dense, saved, write
from safetensors.torch import load_file, save_file

WIDTH = 8
MARKERS = ("[unused0]", "[unused1]")
WORDS = [*SPECIAL, *MARKERS, *VOCABULARY[len(SPECIAL) :], "-", "!"]
TYPES = {
    "Transformer": "sentence_transformers.base.modules.transformer.Transformer",
    "Dense": "sentence_transformers.base.modules.dense.Dense",
    "MultiVectorMask": "sentence_transformers.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
    "Normalize": "sentence_transformers.base.modules.normalize.Normalize",
}
TOKENS = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}


def trunk(folder: Path, family: str = "Bert") -> Path:
    """A small transformer whose vocabulary has the markers of ColBERT, and "-" and "!"."""
    import transformers

    sizes = SIZES | {"vocab_size": len(WORDS), "max_position_embeddings": 64, "pad_token_id": 0}
    config = getattr(transformers, f"{family}Config")(**sizes)
    saved(getattr(transformers, f"{family}Model")(config), folder)
    tokenizer(folder)
    return folder


def tokenizer(folder: Path, words: list[str] = WORDS) -> None:
    """A tokenizer of letters and a few words, which tells cases apart."""
    from transformers import BertTokenizerFast

    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    made = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False, model_max_length=512)
    made.save_pretrained(folder)


def multi_vector_model(
    folder: Path,
    *,
    layers: tuple[tuple[int, str], ...] = ((WIDTH, "linear.Identity"),),
    stated: dict | None = None,
    model: dict | None = None,
    mask: dict | None = None,
    ends: tuple[str, ...] = ("MultiVectorMask", "Normalize"),
    family: str = "Bert",
) -> Path:
    """A folder of sentence-transformers 6: `stated` holds lengths and expansion, `mask` the skipped words."""
    trunk(folder, family)
    kinds = ["Transformer", *["Dense"] * len(layers), *ends]
    modules(folder, kinds, TYPES)
    dense_layers(folder, layers, TOKENS)
    for number, kind in enumerate(ends, 1 + len(layers)):
        write(folder / f"{number}_{kind}" / "config.json", TOKENS if kind == "Normalize" else mask or {})
    write(folder / "sentence_bert_config.json", stated or {})
    write(folder / "config_sentence_transformers.json", {"model_type": "MultiVectorEncoder"} | (model or {}))
    return folder


def pylate_model(folder: Path, *, stated: dict | None = None, early: bool = False, **settings) -> Path:
    """A folder of PyLate: the Transformer and one Dense layer, the rest in `settings`.

    Early releases did not name their kind of model.
    """
    trunk(folder)
    modules(folder, ["Transformer", "Dense"], {**TYPES, "Dense": "pylate.models.Dense.Dense"})
    dense_layers(folder, ((WIDTH, "linear.Identity"),), {})
    write(
        folder / "sentence_bert_config.json", {"max_seq_length": 31, "do_lower_case": False} | (stated or {})
    )
    kind = {} if early else {"model_type": "ColBERT"}
    plain = kind | {"similarity_fn_name": "MaxSim", "prompts": {}}
    write(folder / "config_sentence_transformers.json", plain | settings)
    return folder


def stanford_model(folder: Path, metadata: dict | None, family: str = "Bert") -> Path:
    """A checkpoint of ColBERT's authors: the weights of the BERT and of the projection in one file."""
    trunk(folder, family)
    weights = {f"bert.{name}": tensor for name, tensor in load_file(folder / "model.safetensors").items()}
    weights["linear.weight"] = torch.randn(WIDTH, HIDDEN, generator=torch.Generator().manual_seed(3))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    write(folder / "config.json", config | {"architectures": ["HF_ColBERT"]})
    if metadata is not None:
        write(folder / "artifact.metadata", {"dim": WIDTH} | metadata)
    return folder


def modules(folder: Path, kinds: list[str], types: dict[str, str]) -> None:
    """The list of modules, each in a folder of its own but the first."""
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(kinds[1:], 1))]
    entries = [
        {"idx": n, "name": str(n), "path": path, "type": types.get(kind, kind)}
        for n, (path, kind) in enumerate(zip(paths, kinds, strict=True))
    ]
    write(folder / "modules.json", entries)


def dense_layers(folder: Path, layers: tuple[tuple[int, str], ...], names: dict[str, str]) -> None:
    """Layers of these sizes and activations, which read and write what `names` says."""
    width = HIDDEN
    for number, (n_out, activation) in enumerate(layers, 1):
        path = dense(folder / f"{number}_Dense", width, n_out, activation, seed=number) / "config.json"
        write(path, json.loads(path.read_text()) | names)
        width = n_out
