"""Loads tokenizers and transformer trunks from a folder: safetensors only, no remote code, finite weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from spanwise.errors import ModelRejected


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a model folder."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(
        str(folder), use_fast=True, local_files_only=True, trust_remote_code=False
    )


def load_encoder_trunk(folder: Path) -> nn.Module:
    """The encoder of a model folder, in float32 and in inference mode, without attention dropout."""
    from transformers import AutoModel

    return _load(AutoModel, folder)


def load_span_model(folder: Path) -> nn.Module:
    """The question-answering model of a folder: a trunk with one start and one end vector.

    A folder without such a head (the base) gets a fresh one, drawn from torch's generator.
    """
    from transformers import AutoModelForQuestionAnswering

    return _load(AutoModelForQuestionAnswering, folder)


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
    except (OSError, ValueError, KeyError) as error:
        raise ModelRejected(f"the model in {folder} cannot be loaded: {error}") from error
    finally:
        logging.set_verbosity(before)
    require_finite(model, folder)
    return model.eval()


def require_finite(model: nn.Module, source: object) -> None:
    """Raises ModelRejected when a weight is NaN or infinite."""
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelRejected(f"{source}: the weight {name} is not finite")
