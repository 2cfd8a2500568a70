"""What a reader's training begins with, and how what it has learned is written.

Over the built-in base a reader is stored as differences from it;
over any other model as a whole folder of transformers.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from ...models.delta import Precision, apply_delta, read_delta, save_delta
from ...models.locate import BASE_NAMES, BASE_SHA256, file_sha256, find_base, find_model, is_base
from ...models.pretrained import SPAN_HEAD, VOCABULARIES, load_span_model, load_span_reader, load_tokenizer
from ...models.training import own_memory
from ...reader.load import BUILTIN, DELTA, builtin_folder
from ...reader.span_reader import SENTENCE_HEAD
from ...reader.training import add_sentence_head
from .record import started

BASE = "base"
FRESH = "base"  # what `start` is called where the head is a new one
_TOKENIZER = (
    *VOCABULARIES,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "merges.txt",
)

Form = Literal["differences", "whole"]


@dataclass(frozen=True, slots=True)
class ReaderStart:
    """A model to be trained in place, its tokenizer, and the folder they come from, named `base`."""

    model: nn.Module
    tokenizer: Any
    folder: Path
    base: str
    record: Mapping[str, Any]

    @property
    def form(self) -> Form:
        """How it is stored."""
        return "differences" if is_base(self.base) else "whole"

    def save(self, out: Path, precision: Precision) -> None:
        """Writes the weights as they are now; `precision` is that of differences."""
        if self.form == "differences":
            save_delta(out / DELTA, self.model.state_dict(), base_state(), BASE_SHA256, precision)
        else:
            model: Any = self.model
            model.save_pretrained(out)
            for path in filter(Path.is_file, (self.folder / name for name in _TOKENIZER)):
                shutil.copyfile(path, out / path.name)


def reader_start(base: str = BASE, start: str = FRESH, seed: int = 0) -> ReaderStart:
    """A fresh head over `base`, or the reader called `start`, which then has to be the only one named.

    `base` is the built-in one, or a folder or name@revision of any encoder; a head that it has is kept.
    `start` is "builtin", a folder that `train reader` wrote, or a question-answering model.
    """
    if start != FRESH and base not in BASE_NAMES:
        raise ValueError(
            f"base {base!r} gets a fresh head and start {start!r} goes on with one: name one of them"
        )
    delta = {BUILTIN: builtin_folder() / DELTA}.get(start, Path(start).expanduser() / DELTA)
    if start != FRESH and delta.is_file():
        folder, model = find_base(), starting_reader(delta, seed)
        told = {"base": BASE, **started(start, delta)}
        return ReaderStart(model, load_tokenizer(folder), folder, BASE, told)
    named = base if start == FRESH else start
    folder = find_model(named)
    if start != FRESH:
        load_span_reader(folder)  # refuses a model without a head
    torch.manual_seed(seed)
    model = own_memory(load_span_model(folder))
    record: dict[str, Any] = {"base": named, **started(start, None)}
    if not is_base(named):
        record["base_sha256"] = [file_sha256(path) for path in sorted(folder.glob("*.safetensors"))]
    return ReaderStart(model, load_tokenizer(folder), folder, named, record)


def starting_reader(weights: Path | None, seed: int) -> nn.Module:
    """The base with a new head, or with the differences of a file, to be trained."""
    torch.manual_seed(seed)
    model = load_span_model(find_base())
    if weights is not None:
        if any(name.startswith(SENTENCE_HEAD) for name in read_delta(weights, BASE_SHA256)):
            add_sentence_head(model)
        apply_delta(model, weights, BASE_SHA256)
    return own_memory(model)


def base_state() -> Mapping[str, torch.Tensor]:
    """The weights of the base under the names of the span model, without the head, which it does not have."""
    state = load_span_model(find_base()).state_dict()
    return {name: tensor for name, tensor in state.items() if not name.startswith(SPAN_HEAD)}
