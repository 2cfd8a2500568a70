"""Texts become a unit vector for each token (ColBERT): a transformer, a linear layer, L2 normalisation.

The built-in student and students trained here run on the fast BERT; any other late-interaction model is
loaded by sentence-transformers (`foreign`). Products run in the precision that suits the processor, the
layer and the normalisation in float32. Padding gives no vector, and no vector depends on the texts beside it.

Source: Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
Interaction over BERT", SIGIR 2020, sections 3.1 and 3.2.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .batching import PackedTokens, Vectors, no_progress
from .encoder import BatchedEncoder, unit
from .load import base_tokenizer, n_positions
from .model_files import BUILTIN, is_student, model_digest, model_folder
from .precision import pick_device
from .student import load_student
from .tokenizer import TokenRow, TokenRows

if TYPE_CHECKING:
    from .third_party import ForeignTokenEncoder

PUNCTUATION = tuple(string.punctuation)  # what ColBERT skips in passages


def punctuation_skiplist(vocabulary: Iterable[str]) -> tuple[str, ...]:
    """[CLS], [SEP], ASCII punctuation, and the other punctuation of the vocabulary, in any script.

    >>> punctuation_skiplist(["[CLS]", "mill", "»", "."])[-2:]
    ('~', '»')
    """
    marks = {word for word in vocabulary if len(word) == 1 and unicodedata.category(word).startswith("P")}
    return "[CLS]", "[SEP]", *PUNCTUATION, *sorted(marks - set(PUNCTUATION))


class TokenEncoder(BatchedEncoder[TokenRow]):
    """Encodes tokens; `digest` names all that vectors depend on, `width` is the size of a vector."""

    def __init__(
        self,
        model: nn.Module,
        projection: nn.Linear,
        rows: TokenRows,
        digest: str,
        batch_tokens: int | None = None,
    ) -> None:
        super().__init__(model, batch_tokens)
        self.projection, self.rows, self.digest = projection, rows, digest
        self.width: int = projection.out_features

    def encode_questions(self, texts: Sequence[str]) -> list[Vectors]:
        """For each question (m, width) float32, rows unit-norm, m at least 1."""
        vectors, lengths = self.encode_passages(texts)
        return np.split(vectors, np.cumsum(lengths)[:-1]) if len(texts) else []

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = no_progress
    ) -> tuple[Vectors, NDArray[np.int64]]:
        """The vectors (T, width) float32 of all texts, one text after another, and the count of each (n,).

        Rows are unit-norm, each text has at least one; `on_progress` gets the count of texts done. A row does
        not depend on the texts beside it: cosine at least 0.9999 between any two batchings.
        """
        parts, counts, done = [np.empty((0, self.width), np.float32)], [np.empty(0, np.int64)], 0
        for _, rows, batches in self.windows(texts, self.rows.of, self._forward):
            lengths = np.array([len(row.kept) for row in rows], dtype=np.int64)
            starts = np.cumsum(lengths) - lengths
            out = np.empty((int(lengths.sum()), self.width), dtype=np.float32)
            for batch, vectors in batches:
                out[_ranges(starts[batch], lengths[batch])] = vectors
                done += len(batch)
                on_progress(done)
            parts.append(out)
            counts.append(lengths)
        return np.concatenate(parts), np.concatenate(counts)

    @torch.inference_mode()
    def _forward(self, rows: Sequence[TokenRow]) -> Vectors:
        tokens = PackedTokens.of([row.ids for row in rows])
        states = self.backbone.states(tokens)  # (all tokens, H)
        kept = [start + np.array(row.kept) for start, row in zip(tokens.starts(), rows, strict=True)]
        states = states[torch.from_numpy(np.concatenate(kept)).to(states.device)]
        vectors: Vectors = unit(self.projection(states.float())).cpu().numpy()  # (T, width)
        return vectors


def load_token_encoder(name: str = BUILTIN, device: str | None = None) -> TokenEncoder | ForeignTokenEncoder:
    """The late-interaction encoder of a model named as in `locate`, on the device of that name or the best.

    ModelNotFound or ModelRejected for a model that is missing, unsafe or not a late-interaction model.
    """
    folder, on = model_folder(name, "token-encoder"), pick_device(device)
    if not is_student(folder):
        from .third_party import ForeignTokenEncoder

        return ForeignTokenEncoder.load(folder, on)
    student = load_student(folder)
    limits = [n for n in (student.settings.max_length, n_positions(student.backbone)) if n is not None]
    rows = TokenRows(base_tokenizer(student.backbone), min(limits), student.settings.skiplist)
    digest = model_digest(name, "token-encoder")
    return TokenEncoder(student.backbone.to(on), student.projection.to(on), rows, digest)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The indices start, start + 1, … of each range, one range after another."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
