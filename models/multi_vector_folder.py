"""Writes a late-interaction model as a MultiVectorEncoder folder of sentence-transformers 6.

The folder holds the transformer with its tokenizer, a Dense layer or several, the mask of skipped tokens, and
the normalisation; `multi_vector_config` reads the same. Weights are safetensors.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .linear_layer import TOKENS
from .locate import CONFIG, MODULES, WEIGHTS
from .model_folder import read_json
from .multi_vector_config import LENGTHS, MODEL
from .pretrained import VOCABULARIES

if TYPE_CHECKING:
    from torch import nn

    from .token_encoder import TokenEncoder

_TYPES = {
    "Transformer": "sentence_transformers.base.modules.transformer.Transformer",
    "Dense": "sentence_transformers.base.modules.dense.Dense",
    "MultiVectorMask": "sentence_transformers.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
    "Normalize": "sentence_transformers.base.modules.normalize.Normalize",
}
_TOKENIZER = (*VOCABULARIES, "merges.txt", "tokenizer_config.json", "special_tokens_map.json")
_NAMES = {"module_input_name": TOKENS, "module_output_name": TOKENS}


def save_token_model(encoder: TokenEncoder, folder: Path) -> None:
    """Writes the model to a new folder, all of it or nothing; ValueError when the folder is not empty.

    Questions and passages may skip the same tokens, or only one side any: the format has one list of them.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already, expected a new folder")
    words = _skiplist(encoder)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    modules = ["Transformer", *["Dense"] * len(encoder.head.layers), "MultiVectorMask", "Normalize"]
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(modules[1:], 1))]
    entries = [
        {"idx": n, "name": str(n), "path": path, "type": _TYPES[kind]}
        for n, (path, kind) in enumerate(zip(paths, modules, strict=True))
    ]
    _write(unfinished / MODULES, entries)
    _write_transformer(encoder, unfinished)
    for path, layer in zip(paths[1:], encoder.head.layers, strict=False):
        _write_layer(unfinished / path, *layer)  # type: ignore[misc]
    _write(unfinished / paths[-2] / CONFIG, words)
    _write(unfinished / paths[-1] / CONFIG, _NAMES)
    unfinished.replace(folder)


def _write_transformer(encoder: TokenEncoder, folder: Path) -> None:
    """The transformer, its tokenizer as it is now, and what the model says of its sides."""
    tower, source = encoder.tower, encoder.tower.network.folder
    for name in _TOKENIZER:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    encoder.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))  # with its markers
    config = read_json(source / CONFIG)
    config.pop("architectures", None)
    _write(folder / CONFIG, config)
    _write_weights(folder / WEIGHTS, encoder.model)
    prompts = {"query": tower.question.prompt, "document": tower.passage.prompt}
    _write(
        folder / MODEL,
        {"model_type": "MultiVectorEncoder", "prompts": prompts, "similarity_fn_name": "maxsim"},
    )
    stated: dict[str, Any] = {
        "transformer_task": "feature-extraction",
        "do_lower_case": tower.network.lowercase,
        "document_length": encoder.passages.texts.max_length,
        "query_length": encoder.questions.texts.max_length,
    }
    if expansion := tower.question.expansion:
        stated["query_expansion"] = expansion.config()
    _write(folder / LENGTHS, stated)


def _write_layer(folder: Path, linear: nn.Linear, activation: nn.Module) -> None:
    kind = type(activation)
    config = {"in_features": linear.in_features, "out_features": linear.out_features}
    config |= {"bias": linear.bias is not None}
    _write(folder / CONFIG, config | {"activation_function": f"{kind.__module__}.{kind.__name__}"} | _NAMES)
    _write_weights(folder / WEIGHTS, linear, "linear.")


def _write_weights(path: Path, module: nn.Module, prefix: str = "") -> None:
    from safetensors.torch import save_file

    tensors = {prefix + name: value.cpu().contiguous() for name, value in module.state_dict().items()}
    save_file(tensors, path, metadata={"format": "pt"})


def _skiplist(encoder: TokenEncoder) -> dict[str, Any]:
    """What the mask says; ValueError when the two sides skip different tokens."""
    sides = {"query": encoder.tower.question.skiplist, "document": encoder.tower.passage.skiplist}
    skipping = [task for task, words in sides.items() if words]
    words = sides[skipping[0]] if skipping else ()
    if any(sides[task] != words for task in skipping):
        raise ValueError("questions and passages skip different tokens, expected one list of them")
    return {"skiplist_words": list(words), "skiplist_tasks": skipping}


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
