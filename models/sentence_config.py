"""What a folder in the layout of sentence-transformers says about one tower, or a plain transformer folder.

Read are `modules.json` with the folders that it lists, `config_sentence_transformers.json` (prompts,
similarity), `sentence_bert_config.json` (length, lower case) and the limit of the tokenizer. A folder without
a list is a transformer with mean pooling, or the pooling that `1_Pooling` says. Settings that would change
vectors in ways not known here are refused by name rather than passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected

from .linear_layer import LinearLayer
from .locate import MODULES
from .model_folder import CONFIG, checked_folder, read_json
from .pooling import mode_of, pooling_of
from .sentence_modules import sentence_modules
from .token_limit import token_limit
from .tower import Digests, Side, Tower, weights_of

PROMPTS: dict[Side, tuple[str, ...]] = {"question": ("query",), "passage": ("document", "passage", "corpus")}
_LENGTHS = "sentence_bert_config.json"
_MODEL = "config_sentence_transformers.json"


def sentence_tower(folder: Path, side: Side, digests: Digests = weights_of) -> Tower:
    """The tower of that side; ModelNotFound or ModelRejected for what cannot be known or computed here.

    `digests` gives those of a folder's weights; what is shared by both sides need not be read twice.
    """
    if not (folder / MODULES).is_file():
        checked_folder(folder)
        return _tower(folder, digests, {"pooling": pooling_of(folder)})
    transformer, pooling, *others = sentence_modules(folder, side)
    checked_folder(transformer.folder)
    path = pooling.folder / CONFIG
    config = read_json(path)
    rest = {
        "pooling": mode_of(config, path),
        "layers": tuple(LinearLayer.read(module.folder) for module in others if module.kind == "Dense"),
        "inner_product": _is_inner_product(folder) and "Normalize" not in [each.kind for each in others],
        "pools_prompt": bool(config.get("include_prompt", True)),
    }
    return _tower(transformer.folder, digests, rest | _prompt(folder, side))


def prompt_of(config: Mapping[str, Any], side: Side) -> str:
    """The prompt of that side: the first of its names that the configuration has, else the default one.

    >>> prompt_of({"prompts": {"query": "Q: ", "passage": "P: "}, "default_prompt_name": "query"}, "passage")
    'P: '
    """
    prompts = config.get("prompts") or {}
    for name in (*PROMPTS[side], config.get("default_prompt_name")):
        if name in prompts:
            return str(prompts[name] or "")
    return ""


def _prompt(folder: Path, side: Side) -> dict[str, Any]:
    path = folder / _MODEL
    return {"prompt": prompt_of(read_json(path), side)} if path.is_file() else {}


def _is_inner_product(folder: Path) -> bool:
    """Whether vectors are compared as they are; ModelRejected for distances and for shortened vectors."""
    path = folder / _MODEL
    config = read_json(path) if path.is_file() else {}
    similarity = config.get("similarity_fn_name") or "cosine"
    if similarity not in ("cosine", "dot"):
        raise ModelRejected(f"{path}: the similarity {similarity}, expected cosine or dot")
    if config.get("truncate_dim") is not None:
        raise ModelRejected(f"{path}: vectors cut to {config['truncate_dim']} numbers are not known here")
    return bool(similarity == "dot")


def _tower(folder: Path, digests: Digests, rest: dict[str, Any]) -> Tower:
    stated = _stated(folder)
    return Tower(
        weights=digests(folder),
        folder=folder,
        max_length=token_limit(folder, stated.get("max_seq_length")),
        lowercase=bool(stated.get("do_lower_case")),
        **rest,
    )


def _stated(folder: Path) -> dict[str, Any]:
    """The settings of the transformer's module; ModelRejected for those that ask for something else of it."""
    path = folder / _LENGTHS
    config = read_json(path) if path.is_file() else {}
    plain = {"transformer_task": "feature-extraction", "module_output_name": "token_embeddings"}
    for name, expected in {**plain, "query_expansion": None, "processing_kwargs": None}.items():
        if config.get(name, expected) not in (expected, None, {}):
            raise ModelRejected(f"{path}: {name} is {config[name]!r}, which is not known here")
    return config
