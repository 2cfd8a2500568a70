"""Loads tokenizers and transformer trunks from a folder: safetensors only, no remote code, finite weights.

A plain BERT is computed by `bert` and needs no transformers, whose import takes longer than the rest of a
question; every other model, and every model that is trained, is one of transformers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from spanwise.errors import ModelRejected

from .bert import BertConfig, bert_span_model, bert_trunk
from .checkpoint import Checkpoint, read_checkpoint, read_config, require_finite
from .locate import WEIGHTS
from .plain_tokenizer import PlainTokenizer


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a model folder."""
    if plain := PlainTokenizer.open(folder):
        return plain
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(
        str(folder), use_fast=True, local_files_only=True, trust_remote_code=False
    )


def load_encoder_trunk(folder: Path) -> nn.Module:
    """The encoder of a model folder, in float32 and in inference mode."""
    checkpoint = _plain_bert(folder)
    if checkpoint and (trunk := bert_trunk(checkpoint)):
        return trunk
    from transformers import AutoModel

    return _load(AutoModel, folder)


def load_span_reader(folder: Path) -> nn.Module:
    """The question-answering model of a folder, in float32 and in inference mode."""
    checkpoint = _plain_bert(folder)
    if checkpoint and (model := bert_span_model(checkpoint)):
        return model
    return load_span_model(folder)


def load_span_model(folder: Path) -> nn.Module:
    """The question-answering model of a folder, to be trained: a trunk with one start and one end vector.

    A folder without such a head (the base) gets a fresh one, drawn from torch's generator.
    """
    from transformers import AutoModelForQuestionAnswering

    return _load(AutoModelForQuestionAnswering, folder)


def _plain_bert(folder: Path) -> Checkpoint | None:
    """Settings and finite weights of a folder if it is a plain BERT in one file."""
    if not (folder / WEIGHTS).is_file() or BertConfig.read(read_config(folder)) is None:
        return None
    checkpoint = read_checkpoint(folder)
    require_finite(checkpoint.weights, folder)
    return checkpoint


def _load(factory: Any, folder: Path) -> nn.Module:
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()  # a fresh head is expected here, not news
    logging.disable_progress_bar()
    try:
        model: nn.Module = factory.from_pretrained(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            attn_implementation="sdpa",
            attention_probs_dropout_prob=0.0,
            dtype=torch.float32,
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelRejected(f"the model in {folder} cannot be loaded: {error}") from error
    finally:
        logging.set_verbosity(before)
    require_finite(model.state_dict(), folder)
    return model.eval()
