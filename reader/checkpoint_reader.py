"""A reader of any question-answering checkpoint: BERT, RoBERTa, ALBERT, ELECTRA, DeBERTa and their kin.

Their folders differ in what stands between question and passage (`models.pair_template` reads it off the
tokenizer), in whether they take segments, and in how long an input may be.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from torch import nn

from spanwise.errors import ModelRejected

from ..models.loaded_tower import n_positions
from ..models.locate import file_sha256
from ..models.precision import pick_device
from ..models.pretrained import (
    check_vocabulary,
    load_span_reader,
    load_tokenizer,
)
from .declining import declining
from .span_reader import SpanReader
from .windows import MAX_CONTEXT_TOKENS, MAX_QUESTION_TOKENS

MAX_LENGTH = 384
LEAST_LENGTH = 2 * (MAX_QUESTION_TOKENS + MAX_CONTEXT_TOKENS)  # the rest is for the passage


def checkpoint_reader(folder: Path, device: str | None = None) -> SpanReader:
    """The reader of a model folder that `find_model` has found; ModelRejected when it cannot be one."""
    model, tokenizer = load_span_reader(folder), load_tokenizer(folder)
    check_vocabulary(tokenizer, model, folder)
    max_length, stride = input_length(model, folder)
    weights = "".join(map(file_sha256, sorted(folder.glob("*.safetensors"))))
    digest = hashlib.sha256(weights.encode()).hexdigest()
    reader = SpanReader(
        model.to(pick_device(device)), tokenizer, digest, max_length=max_length, stride=stride
    )
    return declining(reader, folder)


def input_length(model: nn.Module, source: object) -> tuple[int, int]:
    """The longest input in tokens and the stride of its windows: 384 and 128, less where positions are few.

    ModelRejected for a model that has too few for a long question with a passage.
    """
    longest = min(MAX_LENGTH, n_positions(model) or MAX_LENGTH)
    if longest < LEAST_LENGTH:
        raise ModelRejected(f"{source} reads {longest} tokens at once, a reader needs {LEAST_LENGTH}")
    return longest, longest // 3
