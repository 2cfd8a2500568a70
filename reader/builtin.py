"""Loads a reader: the built-in one (base plus stored differences), or any question-answering model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from spanwise.errors import ModelNotFound, ModelRejected

from ..models.bert import bert_span_model
from ..models.checkpoint import Checkpoint, read_checkpoint, require_finite
from ..models.delta import tuned_weights
from ..models.locate import BASE_SHA256, CONFIG, file_sha256, find_base, find_model
from ..models.precision import pick_device
from ..models.pretrained import load_tokenizer
from .calibrations import Calibrations
from .checkpoint_reader import checkpoint_reader
from .declining import declining
from .evidence import Calibration
from .folder import BUILTIN, CALIBRATION, DELTA, builtin_folder, reader_folder
from .span_reader import SpanReader

__all__ = ["BUILTIN", "CALIBRATION", "DELTA", "builtin_folder", "load_calibration", "load_reader"]


def load_reader(
    name: str = BUILTIN,
    device: str | None = None,
    split: Callable[[str], Sequence[tuple[int, int]]] = lambda text: (),
) -> SpanReader:
    """The reader called "builtin", or that of a local folder or a pinned Hugging Face name.

    A folder made by `spanwise train reader` holds differences from the base and is read as such. `split`
    says where the sentences of a text are, for a reader that scores them.
    """
    folder = reader_folder(name)
    if (folder / DELTA).is_file():
        return _from_delta(folder, device, split)
    if name == BUILTIN:
        raise ModelNotFound(
            f"{folder / DELTA} is missing: the installation is incomplete, reinstall spanwise"
        )
    return checkpoint_reader(find_model(name), device)


def load_calibration(name: str, reader_digest: str, retriever: str = "") -> Calibration | None:
    """The calibration that lies beside a reader's weights, or None when it was never fitted.

    Where one was fitted for this retriever alone, it is that; else the one for all others.
    `ModelRejected` when it was fitted for other weights than those loaded: its confidence would mean nothing.
    """
    folder = reader_folder(name)
    path = folder / CALIBRATION
    if not path.is_file():
        return None
    calibration = Calibrations.load(path).of(retriever)
    if calibration.reader != reader_digest:
        raise ModelRejected(
            f"{path} was fitted for other weights: fit it again with: spanwise calibrate --out {folder}"
        )
    return calibration


def _from_delta(
    folder: Path, device: str | None, split: Callable[[str], Sequence[tuple[int, int]]]
) -> SpanReader:
    base = find_base()
    checkpoint = read_checkpoint(base)
    trunk = {f"bert.{name}": tensor for name, tensor in checkpoint.weights.items()}
    weights = tuned_weights(trunk, folder / DELTA, BASE_SHA256)
    require_finite(weights, folder / DELTA)
    model = bert_span_model(Checkpoint(checkpoint.config, weights))
    if model is None:
        raise ModelRejected(f"{folder / DELTA} or {base / CONFIG} does not describe a reader over the base")
    digest = hashlib.sha256(f"{BASE_SHA256} {file_sha256(folder / DELTA)}".encode()).hexdigest()
    reader = SpanReader(model.to(pick_device(device)), load_tokenizer(base), digest, split=split)
    return declining(reader, folder)
