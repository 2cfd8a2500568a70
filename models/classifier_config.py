"""What the folder of a sequence classification model says of a cross-encoder: one output, limits, no prompts.

Read are `config.json`, and in the layout of sentence-transformers `modules.json` (one Transformer),
`sentence_bert_config.json` and `config_sentence_transformers.json`. An activation behind the output is not
computed, since scores are only compared: it must be one that keeps their order. What would change scores in
ways not known here is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected

from .locate import MODULES
from .model_folder import CONFIG, checked_folder, read_json
from .sentence_modules import listed_modules
from .token_limit import stated_length, token_limit

ORDERLY = ("Identity", "Sigmoid", "Tanh")  # activations that keep the order of scores
_KIND = "ForSequenceClassification"
_LENGTHS, _MODEL = "sentence_bert_config.json", "config_sentence_transformers.json"


def classifier_settings(folder: Path) -> tuple[Path, int | None, bool]:
    """The folder of the network, the limit in tokens stated for it, and whether texts are put in lower case.

    ModelRejected for a model that is no cross-encoder, or has more than one output.
    """
    network = _network(folder)
    config = read_json(checked_folder(network) / CONFIG)
    _check_kind(network / CONFIG, config)
    _check_activations(folder, network, config)
    _check_prompts(folder / _MODEL)
    stated = _stated(network / _LENGTHS)
    own = stated_length(stated, "max_seq_length", network / _LENGTHS)
    return network, token_limit(network, own), bool(stated.get("do_lower_case"))


def n_outputs(config: Mapping[str, Any]) -> int:
    """How many numbers the head of a classification model gives; transformers' default is two.

    >>> n_outputs({"id2label": {"0": "LABEL_0"}}), n_outputs({})
    (1, 2)
    """
    labels = config.get("id2label")
    number = len(labels) if isinstance(labels, dict) else config.get("num_labels", 2)
    return number if isinstance(number, int) else 2


def _network(folder: Path) -> Path:
    if not (folder / MODULES).is_file():
        return folder
    modules = listed_modules(folder, ("Transformer",))
    if len(modules) != 1:
        raise ModelRejected(f"{folder / MODULES} lists {len(modules)} modules, a cross-encoder has one")
    return modules[0].folder


def _check_kind(path: Path, config: Mapping[str, Any]) -> None:
    kinds = config.get("architectures") or []
    if not isinstance(kinds, list) or len(kinds) != 1 or not str(kinds[0]).endswith(_KIND):
        raise ModelRejected(f"{path}: {kinds!r} is no cross-encoder, expected one architecture …{_KIND}")
    if n_outputs(config) != 1:
        raise ModelRejected(f"{path}: the model has {n_outputs(config)} outputs, a cross-encoder has one")


def _check_activations(folder: Path, network: Path, config: Mapping[str, Any]) -> None:
    for path, named in _activations(folder, network, config):
        library, _, name = str(named).rpartition(".")
        if named is not None and not (library.startswith("torch.nn") and name in ORDERLY):
            raise ModelRejected(f"{path}: the activation is {named!r}, known are {', '.join(ORDERLY)}")


def _activations(folder: Path, network: Path, config: Mapping[str, Any]) -> Iterator[tuple[Path, object]]:
    """Where releases of sentence-transformers have kept it."""
    yield network / CONFIG, config.get("sbert_ce_default_activation_function")
    own = config.get("sentence_transformers")
    yield network / CONFIG, own.get("activation_fn") if isinstance(own, dict) else None
    if (folder / _MODEL).is_file():
        yield folder / _MODEL, read_json(folder / _MODEL).get("activation_fn")


def _check_prompts(path: Path) -> None:
    config = read_json(path) if path.is_file() else {}
    if (name := config.get("default_prompt_name")) is not None:
        raise ModelRejected(
            f"{path}: its default prompt is {name!r}, and cross-encoders with prompts are not known"
        )


def _stated(path: Path) -> dict[str, Any]:
    config = read_json(path) if path.is_file() else {}
    plain = {"transformer_task": "sequence-classification", "module_output_name": "scores"}
    for name, expected in {**plain, "query_expansion": None, "processing_kwargs": None}.items():
        if config.get(name, expected) not in (expected, None, {}):
            raise ModelRejected(f"{path}: {name} is {config[name]!r}, which is not known here")
    return config
