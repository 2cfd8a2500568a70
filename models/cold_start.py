"""Models that compute the first questions of a process in numpy, before torch is imported.

Importing torch takes about as long as numpy needs for some thousand tokens. So a model over the base is
computed in numpy until a process has spent that many tokens on questions and the passages read for them.
After that, and for passages that are indexed, torch computes it; without torch, numpy does. numpy computes in
float32: results differ from those of torch by the precision that torch chooses for the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from spanwise.errors import ModelRejected
from spanwise.postponed import PostponedImport, is_installed

from .batching import Ids, OnProgress, PackedTokens, Vectors, joined, no_progress, parts
from .model_files import find_base, is_token_model, model_digest, model_folder
from .numpy_bert import EVIDENCE_HEAD, NumpyBert
from .token_model import read_settings
from .tokenizer import FastTokenizer, TokenRow, TokenRows, packed_rows

if TYPE_CHECKING:
    from .encoder import TokenEncoder
    from .third_party import ThirdPartyTokenEncoder

    TorchTokenEncoder = TokenEncoder | ThirdPartyTokenEncoder

TORCH = PostponedImport("torch", budget=6144)  # tokens
BATCH = 32  # passages that numpy computes at once


class Scores(Protocol):
    """The logits of tokens.

    has_evidence: True if there are logits of the evidence.
    """

    has_evidence: bool

    def __call__(self, tokens: PackedTokens) -> Vectors:
        """(T, 2): the start and the end logit of each token; (T, 7) with the evidence of EVIDENCE_OUTPUTS."""


class PostponedScores:
    """The scores of a reader by the result of `load`, which runs when first needed; before, in numpy.

    Without a model in numpy, that is at once, and the reader has evidence.
    """

    def __init__(self, load: Callable[[], Scores], bert: NumpyBert | None = None) -> None:
        self.has_evidence = bert is None or bert.has(EVIDENCE_HEAD)
        self._head = bert and bert.span_head()
        self._bert = bert
        self._load = cache(load)
        self._loading = Lock()

    def __call__(self, tokens: PackedTokens) -> Vectors:
        """See `Scores`."""
        bert = self._bert
        if bert and self._head and not TORCH.is_worth(len(tokens.ids)):
            return self._head(bert.states(tokens))
        with self._loading:  # several threads may be first
            scores = self._load()
            self._bert = None
        return scores(tokens)


class NumpyFirstTokenEncoder:
    """The encoder of a token model: questions in numpy at first, the rest by the result of `load`."""

    def __init__(
        self, bert: NumpyBert, rows: TokenRows, digest: str, load: Callable[[], TorchTokenEncoder]
    ) -> None:
        self.digest = digest
        self._rows = rows
        self._load = load
        self._projection = bert.linear("projection")
        self.width = len(self._projection.bias)
        self._bert: NumpyBert | None = bert

    def encode_questions(self, texts: Sequence[str]) -> list[Vectors]:
        """See `TokenEncoder`."""
        rows = self._rows.of(texts)
        bert = self._bert
        if not bert or TORCH.is_worth(sum(map(len, rows))):
            return self._torch_encoder.encode_questions(texts)
        return self._computed(bert, rows) if rows else []

    def encode_passages(
        self, texts: Sequence[str], on_progress: OnProgress = no_progress
    ) -> tuple[Vectors, Ids]:
        """See `TokenEncoder`."""
        bert = self._bert
        if not bert or is_installed(TORCH.module):
            return self._torch_encoder.encode_passages(texts, on_progress)
        vectors: list[Vectors] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._computed(bert, self._rows.of(texts[start : start + BATCH]))
            on_progress(len(vectors))
        return joined(vectors, self.width)

    def _computed(self, bert: NumpyBert, rows: Sequence[TokenRow]) -> list[Vectors]:
        tokens, places = packed_rows(rows)
        vectors = self._projection(bert.states(tokens)[places])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return parts(vectors, [len(row.places) for row in rows])

    @cached_property
    def _torch_encoder(self) -> TorchTokenEncoder:
        encoder = self._load()
        self._bert = None
        return encoder


def load_token_encoder(name: str) -> NumpyFirstTokenEncoder | TorchTokenEncoder:
    """The encoder of `encoder.load_token_encoder`; one of a token model needs no torch at first."""

    def load() -> TorchTokenEncoder:
        from . import encoder

        return encoder.load_token_encoder(name)

    folder = model_folder(name, "token-encoder")
    if TORCH.is_worth(0) or not is_token_model(folder):
        return load()
    settings, weights = read_settings(folder)
    tokenizer = FastTokenizer.open(find_base())
    bert = numpy_model(weights)
    if tokenizer is None or bert is None:
        return load()
    max_length = min(bert.n_positions, settings.max_length or bert.n_positions)
    rows = TokenRows(tokenizer, max_length, settings.skiplist)
    return NumpyFirstTokenEncoder(bert, rows, model_digest(name, "token-encoder"), load)


def numpy_model(delta: Path) -> NumpyBert | None:
    """The model of a delta file in numpy, or None if torch is imported or the weights do not fit.

    Loading the same file with torch raises the reason.
    """
    if TORCH.is_worth(0):
        return None
    try:
        return NumpyBert.over_base(delta)
    except ModelRejected:
        return None
