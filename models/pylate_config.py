"""What PyLate writes into `config_sentence_transformers.json`, in the words of sentence-transformers 6.

PyLate puts a prefix, "[Q] " or "[D] ", in front of every text, as one token where the vocabulary has it; it
fills questions up to `query_length` with [MASK] unless `do_query_expansion` is false, and skips punctuation
in passages unless `skiplist_words` says otherwise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected

_OWN = (
    "do_query_expansion",
    "attend_to_expansion_tokens",
    "query_prefix",
    "document_prefix",
    "skiplist_words",
)
_LENGTHS = ("query_length", "document_length")
_QUESTION_LENGTH = 32  # where a folder does not say


def is_pylate(config: dict[str, Any]) -> bool:
    """Whether PyLate wrote this configuration; its early releases did not say so."""
    kind = config.get("model_type")
    return kind == "ColBERT" or (kind in (None, "SentenceTransformer") and "query_prefix" in config)


def pylate_settings(config: dict[str, Any], path: Path) -> dict[str, Any]:
    """Prompts, markers, lengths and query expansion; ModelRejected for a prefix that is no text."""
    settings = {name: config[name] for name in _LENGTHS if config.get(name) is not None}
    prompts = dict(config.get("prompts") or {})
    markers = []
    for task in ("query", "document"):
        prefix = config.get(f"{task}_prefix") or ""
        if not isinstance(prefix, str):
            raise ModelRejected(f"{path}: {task}_prefix is {prefix!r}, expected a text")
        if prefix.strip():
            markers.append(prefix)
        prompts[task] = prefix + str(prompts.get(task) or "").removeprefix(prefix)
    settings |= {"prompts": prompts, "markers": tuple(markers)}
    if "query_expansion" in config:
        settings["query_expansion"] = config["query_expansion"]
    elif any(name in config for name in (*_OWN, *_LENGTHS)) and config.get("do_query_expansion") is not False:
        attend = bool(config.get("attend_to_expansion_tokens", config.get("attend_to_mask_tokens")))
        length = settings.pop("query_length", None) or _QUESTION_LENGTH
        settings["query_expansion"] = {"strategy": "fixed", "attend": attend, "length": length}
    return settings
