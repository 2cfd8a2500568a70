"""Loads readers: the built-in ones, a folder of `spanwise train reader`, or any question-answering model.

The small built-in reader, "fast", and those trained from the built-in base are stored as differences from
that base. "builtin" reads the best passages again with a larger reader, stored in 4 bits. It is "fast" where
the file of the larger one or torch is missing, or the environment variable SPANWISE_READER is "fast".
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from spanwise.errors import ModelNotFound, ModelRejected

from ..models.model_files import (
    BASE_SHA256,
    BUILTIN,
    FAST,
    READER,
    SECOND,
    file_sha256,
    find_base,
    find_model,
    reader_folder as reader_folder,
)
from .evidence import Calibration, Calibrations
from .spans import MAX_CONTEXT_TOKENS, MAX_QUESTION_TOKENS, Split

if TYPE_CHECKING:
    from torch import nn

    from .reader_pair import ReaderPair
    from .span_reader import SpanReader, SpanScores

DELTA = READER
CALIBRATION = "calibration.json"
SETTINGS = "settings.json"
MAX_LENGTH = 384
MIN_LENGTH = 2 * (MAX_QUESTION_TOKENS + MAX_CONTEXT_TOKENS)  # the rest is for the passage
_UNANSWERABLE_DATA = re.compile(r"squad_?-?v?2", re.IGNORECASE)


def load_reader(
    name: str = BUILTIN, device: str | None = None, split: Split = lambda text: ()
) -> SpanReader | ReaderPair:
    """The reader with this name: "builtin", "fast", a local folder, or a pinned Hugging Face name.

    `split` gives the sentences of a text, for a reader that scores them.
    """
    folder = reader_folder(name)
    if (folder / SECOND).is_file():
        from .reader_pair import ReaderPair

        return ReaderPair(load_span_reader(FAST, device, split), _large_reader(folder, device, split))
    return load_span_reader(name, device, split)


def load_span_reader(name: str, device: str | None = None, split: Split = lambda text: ()) -> SpanReader:
    """The reader with this name, which reads once."""
    folder = reader_folder(name)
    if (folder / DELTA).is_file():
        reader = _delta_reader(folder, device, split)
    elif name in (BUILTIN, FAST):
        raise ModelNotFound(
            f"{folder / DELTA} is missing: the installation is incomplete. Reinstall spanwise"
        )
    else:
        folder = find_model(name)
        reader = _checkpoint_reader(folder, device, split)
    reader.answers_null = answers_null(folder)
    return reader


def load_calibration(name: str, reader_digest: str, retriever: str = "") -> Calibration | None:
    """The calibration beside a reader's weights, or None without one.

    It is the retriever's own calibration if one was fitted, else the one for all retrievers. ModelRejected if
    it was fitted for other weights than the loaded ones, because its confidence would mean nothing.
    """
    folder = reader_folder(name)
    path = folder / CALIBRATION
    if not path.is_file():
        return None
    calibration = Calibrations.load(path).of(retriever)
    if calibration.reader != reader_digest:
        raise ModelRejected(
            f"{path} was fitted for other weights. Fit it again with: spanwise calibrate --out {folder}"
        )
    return calibration


def calibration_sha256(name: str) -> str:
    """The digest of a reader's calibration; "" without one."""
    try:
        return hashlib.sha256((reader_folder(name) / CALIBRATION).read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""


def answers_null(folder: Path) -> bool:
    """True when the reader of a folder was trained to point at [CLS] for "no answer".

    `settings.json` states it as {"answers_null": true}. Without that, it is True if the model card names
    SQuAD 2.0.
    """
    from ..models.model_files import read_json, setting

    path = folder / SETTINGS
    answers = setting(read_json(path), "answers_null", bool, path) if path.is_file() else None
    if answers is not None:
        return bool(answers)
    card = folder / "README.md"
    head = card.read_text("utf-8", errors="replace").split("\n---", 1)[0] if card.is_file() else ""
    return bool(_UNANSWERABLE_DATA.search(head))


def input_length(model: nn.Module, source: object) -> tuple[int, int]:
    """The longest input and the window stride in tokens: 384 and 128, less for a model with fewer positions.

    ModelRejected for a model with too few positions for a long question and a passage.
    """
    from ..models.load import n_positions

    longest = min(MAX_LENGTH, n_positions(model) or MAX_LENGTH)
    if longest < MIN_LENGTH:
        raise ModelRejected(f"{source} reads {longest} tokens at once. A reader needs {MIN_LENGTH}")
    return longest, longest // 3


def _delta_reader(folder: Path, device: str | None, split: Split) -> SpanReader:
    from ..models.cold_start import PostponedScores, Scores, numpy_model
    from ..models.tokenizer import load_tokenizer
    from .span_reader import SpanReader

    delta = folder / DELTA

    def whole() -> Scores:
        from ..models.load import delta_span_model
        from ..models.precision import pick_device
        from .span_reader import SpanScores

        return SpanScores(delta_span_model(delta).to(pick_device(device)))

    first = numpy_model(delta) if device is None else None
    scores = whole() if first is None else PostponedScores(whole, first)
    digest = hashlib.sha256(f"{BASE_SHA256} {file_sha256(delta)}".encode()).hexdigest()
    return SpanReader(scores, load_tokenizer(find_base()), digest, split=split)


def _large_reader(folder: Path, device: str | None, split: Split) -> SpanReader:
    """The larger reader, loaded when it first reads."""
    from ..models.cold_start import PostponedScores
    from ..models.tokenizer import load_tokenizer
    from .span_reader import SpanReader

    def load() -> SpanScores:
        from ..models.bert import bert_span_model
        from ..models.precision import pick_device
        from ..models.weights import read_quantized
        from .span_reader import SpanScores

        model = bert_span_model(read_quantized(folder / SECOND), keeps_bf16=True)
        if model is None:
            raise ModelRejected(f"{folder / SECOND} is no reader")
        return SpanScores(model.to(pick_device(device)), owns_model=True)

    return SpanReader(
        PostponedScores(load), load_tokenizer(folder), file_sha256(folder / SECOND), split=split
    )


def _checkpoint_reader(folder: Path, device: str | None, split: Split) -> SpanReader:
    """The reader of a model folder; ModelRejected if the model cannot answer questions."""
    from ..models.load import check_vocabulary, load_span_reader
    from ..models.precision import pick_device
    from ..models.tokenizer import load_tokenizer
    from .span_reader import SpanReader, SpanScores

    model = load_span_reader(folder)
    tokenizer = load_tokenizer(folder)
    check_vocabulary(tokenizer, model, folder)
    max_length, stride = input_length(model, folder)
    weights = "".join(map(file_sha256, sorted(folder.glob("*.safetensors"))))
    digest = hashlib.sha256(weights.encode()).hexdigest()
    scores = SpanScores(model.to(pick_device(device)))
    return SpanReader(scores, tokenizer, digest, max_length, stride, split)
