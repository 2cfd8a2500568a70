"""Loads models that write, causal or with an encoder of their own, and reads off how they begin and end.

A causal model goes on from its prompt (GPT-2, Llama and their kin); a sequence-to-sequence model (T5, BART
and theirs) reads the prompt with an encoder and writes with a decoder.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal

from torch import nn

from spanwise.errors import ModelRejected

from .load import VOCABULARIES, load_config, load_network
from .locate import file_sha256

Side = Literal["encoder", "decoder"]
UNSTATED = 2048  # tokens, of a model without a limit whose folder names none
_SETTINGS = ("config.json", "generation_config.json", "tokenizer_config.json", "special_tokens_map.json")
_TEXTS = ("added_tokens.json", "merges.txt", "chat_template.jinja", "chat_template.json")


def load_generative(folder: Path) -> nn.Module:
    """The model of a folder with its head for words, in float32 and in inference mode.

    ModelRejected for a model that only reads (BERT and its kin), and for all that `load_network` refuses.
    """
    from transformers import (
        MODEL_FOR_CAUSAL_LM_MAPPING,
        MODEL_FOR_MASKED_LM_MAPPING,
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
        AutoModelForCausalLM,
        AutoModelForSeq2SeqLM,
    )

    config = load_config(folder)
    known, factory = (
        (MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING, AutoModelForSeq2SeqLM)
        if config.is_encoder_decoder
        else (MODEL_FOR_CAUSAL_LM_MAPPING, AutoModelForCausalLM)
    )
    masked = type(config) in MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)
    if type(config) not in known or (masked and not config.is_encoder_decoder):
        raise ModelRejected(
            f"{folder} is a {config.model_type}, which reads and does not write: expected a causal model "
            "(GPT-2, Llama, ...) or one with encoder and decoder (T5, BART, ...)"
        )
    return load_network(factory, folder).requires_grad_(False)


def generative_digest(folder: Path) -> str:
    """The sha256 that names what a folder writes: its weights, settings, words and chat template."""
    names = dict.fromkeys((*_SETTINGS, *_TEXTS, *VOCABULARIES))
    others = (f"{name}={file_sha256(folder / name)}" for name in names if (folder / name).is_file())
    return hashlib.sha256(
        " ".join([*map(file_sha256, sorted(folder.glob("*.safetensors"))), *others]).encode()
    ).hexdigest()


def end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a text, by the model's settings or by the tokenizer's; there may be several."""
    stated = [_setting(model, "eos_token_id"), tokenizer.eos_token_id]
    many = [one if isinstance(one, list | tuple) else [one] for one in stated if one is not None]
    return frozenset(int(token) for one in many for token in one)


def start_tokens(model: Any, source: object) -> tuple[int, ...]:
    """The tokens that a decoder's text begins with and that are not part of it.

    The second one is the one that the folder forces to be the first (BART's <s>, a language of mBART).
    ModelRejected when none is stated.
    """
    first = _setting(model, "decoder_start_token_id")
    first = _setting(model, "bos_token_id") if first is None else first
    if not isinstance(first, int):
        raise ModelRejected(f"{source} does not say with which token a text begins (decoder_start_token_id)")
    forced = _setting(model, "forced_bos_token_id")
    return (first,) if forced is None else (first, int(forced))


def n_positions_of(config: Any, side: Side) -> int | None:
    """How many tokens that side of a model has positions for; None where they are relative."""
    for name in (f"max_{side}_position_embeddings", "max_position_embeddings", "max_seq_len"):
        if isinstance(found := getattr(config, name, None), int) and found > 0:
            return found
    return None


def reading_side(config: Any) -> Side:
    """Which part of a model reads the prompt."""
    return "encoder" if config.is_encoder_decoder else "decoder"


def input_limit(config: Any, tokenizer: Any) -> int:
    """How many tokens the model is to read: its positions, fewer where its tokenizer says so."""
    limits = [n_positions_of(config, reading_side(config))]
    if 0 < tokenizer.model_max_length < 2**31:  # a tokenizer without a limit says 1e30
        limits.append(int(tokenizer.model_max_length))
    return min((limit for limit in limits if limit is not None), default=UNSTATED)


def _setting(model: Any, name: str) -> Any:
    found = getattr(getattr(model, "generation_config", None), name, None)
    return getattr(model.config, name, None) if found is None else found
