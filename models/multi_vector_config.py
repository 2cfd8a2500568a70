"""What a MultiVectorEncoder folder of sentence-transformers says, or a folder of PyLate, its forerunner.

Read are `modules.json` (a Transformer, Dense layers on the tokens, a MultiVectorMask, a Normalize) with the
folders that it lists, `config_sentence_transformers.json` (prompts, similarity) and
`sentence_bert_config.json` (lengths, query expansion). A folder of PyLate lists the Transformer and the Dense
layers only and says the rest in the second file; see `pylate_config`. Settings that would change vectors or
rankings in ways not known here are refused by name. The mean over a question's tokens ("meanmaxsim") ranks
as their sum does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected

from .linear_layer import TOKENS, LinearLayer
from .locate import MODULES
from .model_folder import CONFIG, checked_folder, read_json
from .pylate_config import is_pylate, pylate_settings
from .sentence_modules import Module, listed_modules
from .skiplist import PUNCTUATION
from .token_limit import token_limit
from .token_tower import Expansion, TokenSide, TokenTower
from .tower import Tower, weights_of

MODEL, LENGTHS = "config_sentence_transformers.json", "sentence_bert_config.json"
KINDS = ("Transformer", "Dense", "MultiVectorMask", "Normalize")
_SIMILARITIES = ("maxsim", "meanmaxsim")
_ONE_VECTOR = ("cosine", "dot")  # what PyLate's saves say where their library has set it
_TASKS = ("query", "document")


def multi_vector_tower(folder: Path) -> TokenTower:
    """The model of a folder with a `modules.json`; ModelRejected unless it is one of late interaction."""
    config = read_json(folder / MODEL) if (folder / MODEL).is_file() else {}
    pylate = is_pylate(config)
    if not pylate and config.get("model_type") != "MultiVectorEncoder":
        raise ModelRejected(
            f"{folder} is no late-interaction model: {MODEL} says model_type {config.get('model_type')!r}, "
            "expected MultiVectorEncoder or ColBERT"
        )
    _check_similarity(folder / MODEL, config, pylate)
    transformer, *others = _modules(folder, pylate)
    checked_folder(transformer.folder)
    masks = [module for module in others if module.kind == "MultiVectorMask"]
    settings = pylate_settings(config, folder / MODEL) | _stated(transformer.folder / LENGTHS)
    expansion = Expansion.read(settings.get("query_expansion"), folder)
    if expansion and not (masks or pylate):
        raise ModelRejected(f"{folder}: query_expansion without a MultiVectorMask, which would score it")
    skipped = _skiplists(masks[0].folder / CONFIG) if masks else {}
    if pylate:
        words = config.get("skiplist_words")
        skipped = {"document": PUNCTUATION if words is None else tuple(map(str, words))}
    prompts = settings.get("prompts", config.get("prompts") or {})
    lengths = _lengths(settings, expansion, transformer.folder)
    question, passage = (
        TokenSide(str(prompts.get(task) or ""), lengths[task], skipped.get(task, ())) for task in _TASKS
    )
    return TokenTower(
        Tower(
            weights_of(transformer.folder), transformer.folder, lowercase=bool(settings.get("do_lower_case"))
        ),
        tuple(LinearLayer.read(module.folder, TOKENS) for module in others if module.kind == "Dense"),
        TokenSide(question.prompt, question.max_length, question.skiplist, expansion),
        passage,
        settings.get("markers", ()),
    )


def _modules(folder: Path, pylate: bool) -> list[Module]:
    """The modules in their order, which must be the one that is known."""
    found = listed_modules(folder, KINDS, ("sentence_transformers", "pylate"))
    kinds = [module.kind for module in found]
    head = ["Transformer", *["Dense"] * kinds.count("Dense")]
    ends = [["MultiVectorMask", "Normalize"], ["Normalize", "MultiVectorMask"], ["Normalize"]]
    if kinds not in [head] if pylate else kinds not in [head + end for end in ends]:
        raise ModelRejected(
            f"{folder / MODULES}: {', '.join(kinds) or 'no modules'}; known are Transformer, any number of "
            + ("Dense" if pylate else "Dense, then MultiVectorMask, then Normalize")
        )
    for module in found:
        path = module.folder / CONFIG
        if module.kind == "Normalize":
            config = read_json(path) if path.is_file() else {}
            if {config.get("module_input_name"), config.get("module_output_name") or TOKENS} != {TOKENS}:
                raise ModelRejected(f"{path} does not normalise {TOKENS}")
    return found


def _check_similarity(path: Path, config: dict[str, Any], pylate: bool) -> None:
    """Raises ModelRejected unless passages are ranked by the sum over the best match of each token."""
    similarity = str(config.get("similarity_fn_name") or "maxsim").lower()
    if similarity not in (*_SIMILARITIES, *_ONE_VECTOR * pylate):
        raise ModelRejected(
            f"{path}: the similarity {similarity}, expected one of {', '.join(_SIMILARITIES)}"
        )
    if config.get("truncate_dim") is not None:
        raise ModelRejected(f"{path}: vectors cut to {config['truncate_dim']} numbers are not known here")


def _skiplists(path: Path) -> dict[str, tuple[str, ...]]:
    """The words that each side skips."""
    config = read_json(path)
    words, tasks = config.get("skiplist_words") or [], config.get("skiplist_tasks")
    tasks = ["document"] if tasks is None else [tasks] if isinstance(tasks, str) else tasks
    if config.get("keep_only_token_ids"):
        raise ModelRejected(f"{path}: keep_only_token_ids is not known here")
    if not isinstance(words, list) or not isinstance(tasks, list):
        raise ModelRejected(f"{path}: skiplist_words and skiplist_tasks are not lists of words")
    return {task: tuple(map(str, words)) for task in map(str, tasks)}


def _lengths(settings: dict[str, Any], expansion: Expansion | None, folder: Path) -> dict[str, int | None]:
    """The limit of each side in tokens: its own, else that of the transformer's module."""
    own = {task: settings.get(f"{task}_length") for task in _TASKS}
    for task, length in own.items():
        if length is not None and (type(length) is not int or length < 3):
            raise ModelRejected(f"{folder}: {task}_length is {length!r}, expected at least 3 tokens")
    if expansion and own["query"] is not None and own["query"] < expansion.length:
        raise ModelRejected(
            f"{folder}: questions are cut at {own['query']} tokens and filled up to {expansion.length}"
        )
    general = token_limit(folder, settings.get("max_seq_length"))
    if expansion and expansion.cut:
        own["query"] = expansion.length
    return {task: general if length is None else length for task, length in own.items()}


def _stated(path: Path) -> dict[str, Any]:
    """The settings of the transformer's module; ModelRejected for those that ask for something else of it."""
    config = read_json(path) if path.is_file() else {}
    plain: dict[str, Any] = {"transformer_task": "feature-extraction", "module_output_name": TOKENS}
    for name, expected in {**plain, "processing_kwargs": None}.items():
        if config.get(name, expected) not in (expected, None, {}):
            raise ModelRejected(f"{path}: {name} is {config[name]!r}, which is not known here")
    states = {"method": "forward", "method_output_name": "last_hidden_state"}
    modality = config.get("modality_config")
    if modality is not None and (not isinstance(modality, dict) or modality.get("text") != states):
        raise ModelRejected(f"{path}: modality_config is {modality!r}, expected the last states of a text")
    return config
