"""The first questions of a process, computed in numpy while torch is not imported.

Importing torch takes about as long as numpy needs for some thousand tokens. So models that are stored as
differences from the base are computed in numpy until a process has spent that many on questions and what is
read for them; then, and for passages that are indexed, torch takes over. numpy computes in float32: the
difference from torch is that of the precision which suits the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import ModelRejected
from spanwise.postponed import PostponedImport

from .batching import PackedTokens, Vectors, no_progress
from .model_files import find_base, is_student, model_digest, model_folder
from .numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS, SPAN_HEAD, NumpyBert
from .student import read_settings
from .tokenizer import FastTokenizer, TokenRows

if TYPE_CHECKING:
    from .third_party import ForeignTokenEncoder
    from .token_encoder import TokenEncoder

    Whole = TokenEncoder | ForeignTokenEncoder

TORCH = PostponedImport("torch", budget=6144)  # tokens


class Scores(Protocol):
    """The logits of tokens; `has_evidence` says whether there are those of the evidence."""

    has_evidence: bool

    def __call__(self, tokens: PackedTokens) -> NDArray[np.float32]:
        """(T, 2): the start and the end logit of each token; (T, 7) with the evidence of EVIDENCE_OUTPUTS."""


class FirstScores:
    """The scores of a reader over the base, in numpy at first, then those that `load` gives."""

    def __init__(self, bert: NumpyBert, load: Callable[[], Scores]) -> None:
        self.has_evidence = bert.has(EVIDENCE_HEAD)
        n_evidence = len(EVIDENCE_OUTPUTS) if self.has_evidence else 0
        self._head = bert.head(2 + n_evidence, *(SPAN_HEAD, EVIDENCE_HEAD)[: 1 + self.has_evidence])
        self._bert: NumpyBert | None = bert
        self._load = load
        self._loaded: Scores | None = None

    def __call__(self, tokens: PackedTokens) -> NDArray[np.float32]:
        """See `Scores`."""
        bert = self._bert
        if bert and not TORCH.is_worth(len(tokens.ids)):
            return self._head(bert.states(tokens))
        if self._loaded is None:
            self._loaded, self._bert = self._load(), None
        return self._loaded(tokens)


class FirstTokenEncoder:
    """A student's encoder of tokens, for questions in numpy at first, then the one that `load` gives."""

    def __init__(
        self,
        bert: NumpyBert,
        rows: TokenRows,
        digest: str,
        load: Callable[[], Whole],
    ) -> None:
        self.digest, self._rows, self._load = digest, rows, load
        self._projection = bert.linear("projection")
        self.width = len(self._projection.bias)
        self._bert: NumpyBert | None = bert
        self._loaded: Whole | None = None

    def encode_questions(self, texts: Sequence[str]) -> list[Vectors]:
        """See `TokenEncoder`."""
        rows, bert = self._rows.of(texts), self._bert
        if not bert or TORCH.is_worth(sum(map(len, rows))):
            return self._whole().encode_questions(texts)
        if not rows:
            return []
        tokens = PackedTokens.of([row.ids for row in rows])
        kept = [start + np.array(row.kept) for start, row in zip(tokens.starts(), rows, strict=True)]
        vectors = self._projection(bert.states(tokens)[np.concatenate(kept)])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.split(vectors, np.cumsum([len(places) for places in kept])[:-1])

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = no_progress
    ) -> tuple[Vectors, NDArray[np.int64]]:
        """See `TokenEncoder`."""
        return self._whole().encode_passages(texts, on_progress)

    def _whole(self) -> Whole:
        if self._loaded is None:
            self._loaded, self._bert = self._load(), None
        return self._loaded


def load_token_encoder(name: str) -> FirstTokenEncoder | Whole:
    """The encoder of `token_encoder.load_token_encoder`; that of a student needs no torch at first."""

    def load() -> Whole:
        from .token_encoder import load_token_encoder as load_whole

        return load_whole(name)

    folder = model_folder(name, "token-encoder")
    if TORCH.is_worth(0) or not is_student(folder):
        return load()
    settings, weights = read_settings(folder)
    tokenizer, bert = FastTokenizer.open(find_base()), first_model(weights)
    if tokenizer is None or bert is None:
        return load()
    limits = [bert.n_positions, settings.max_length or bert.n_positions]
    rows = TokenRows(tokenizer, min(limits), settings.skiplist)
    return FirstTokenEncoder(bert, rows, model_digest(name, "token-encoder"), load)


def first_model(delta: Path) -> NumpyBert | None:
    """The model of a file of differences in numpy; None if torch is imported, and for weights that do not
    fit, of which `weights` tells more.
    """
    try:
        return None if TORCH.is_worth(0) else NumpyBert.over_base(delta)
    except ModelRejected:
        return None
