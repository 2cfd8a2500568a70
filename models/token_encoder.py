"""Texts become a unit vector for each of their tokens: a transformer, linear layers, L2 normalisation.

Questions and passages go through one transformer, each side with its own prompt, limit and skipped tokens;
see `token_tower`. Matrix products of the transformer run in bf16 where the hardware has it, the layers and
the normalisation in float32. Padding gives no vector, and no vector depends on the texts beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .batched_encoder import BatchedEncoder, Computed, Vectors
from .loaded_tower import LoadedTower, load_tower, take_whole
from .locate import BUILTIN
from .packed_tokens import PackedTokens
from .precision import pick_device
from .prompted_texts import Span
from .token_models import token_tower_of
from .token_rows import TokenRow, TokenRows
from .token_tower import TokenTower
from .vector_head import VectorHead, check_sizes


class TokenEncoder(BatchedEncoder[TokenRow]):
    """Encodes tokens; `digest` names all that vectors depend on, `width` is the size of one.

    `head.layers` holds the linear layers, each an `nn.Linear` and its activation.
    """

    def __init__(
        self,
        tower: TokenTower,
        network: LoadedTower,
        head: VectorHead,
        batch_tokens: int | None = None,
    ) -> None:
        super().__init__(network.trunk, batch_tokens)
        self.tower, self.tokenizer, self.head = tower, network.tokenizer, head
        self.digest, self.width = tower.digest, head.width
        source = tower.network.folder
        self.questions = TokenRows(tower.question, network, source)
        self.passages = TokenRows(tower.passage, network, source)

    @classmethod
    def of_tower(cls, tower: TokenTower, device: str | None = None) -> TokenEncoder:
        """The encoder of a model; ModelRejected for what is unsafe, missing, or does not fit."""
        network, on = load_tower(tower.network), pick_device(device)
        for prefix in tower.markers:
            take_whole(network.tokenizer, prefix)
        layers = [layer.load() for layer in tower.layers]
        n_in: int = network.trunk.config.hidden_size  # type: ignore[union-attr, assignment]
        check_sizes(n_in, layers, tower.network.folder)
        network.trunk.to(on)
        return cls(tower, network, VectorHead(n_in, layers).to(on))

    @property
    def projection(self) -> nn.Linear | None:
        """The last linear layer; None for a model whose vectors are the transformer's states."""
        return self.head.layers[-1][0] if len(self.head.layers) else None  # type: ignore[index]

    def encode_questions(self, texts: Sequence[str]) -> list[Vectors]:
        """For each question (m, width) float32, rows unit-norm, m at least 1."""
        vectors, lengths = self._encode(texts, self.questions, lambda done: None)
        return np.split(vectors, np.cumsum(lengths)[:-1]) if len(texts) else []

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> tuple[Vectors, NDArray[np.int64]]:
        """The vectors (T, width) float32 of all texts, one text's after another's, and how many of each (n,).

        Rows are unit-norm, and each text has one at least; `report` hears how many texts are done. A row does
        not depend on the texts beside it: cosine at least 0.9999 between any two batchings.
        """
        return self._encode(texts, self.passages, report)

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n,) int32: how many code points of each passage, from its start, are seen; all, if it fits."""
        return self.passages.texts.covered(texts)

    def covered_questions(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The same of questions, whose limit may be much lower."""
        return self.questions.texts.covered(texts)

    def question_offsets(self, text: str) -> list[Span | None]:
        """For each row of `encode_questions([text])` the code points of the text that it stands for.

        None for what is not of the text: [CLS], [SEP], a marker, [MASK].
        """
        return self.questions.offsets(text)

    def passage_offsets(self, text: str) -> list[Span | None]:
        """For each row of `encode_passages([text])` the code points of the text that it stands for."""
        return self.passages.offsets(text)

    def _encode(
        self, texts: Sequence[str], side: TokenRows, report: Callable[[int], None]
    ) -> tuple[Vectors, NDArray[np.int64]]:
        parts, lengths = [np.empty((0, self.width), dtype=np.float32)], [np.empty(0, dtype=np.int64)]
        for first, rows, batches in self._windows(texts, side.of):
            parts.append(self.in_order(rows, batches, report, first))
            lengths.append(_lengths(rows))
        return np.concatenate(parts), np.concatenate(lengths)

    def in_order(
        self,
        rows: Sequence[TokenRow],
        batches: Iterable[Computed],
        report: Callable[[int], None] = lambda done: None,
        done: int = 0,
    ) -> Vectors:
        """The vectors of all batches in the order of the rows; `report` hears how many, `done` among them."""
        lengths = _lengths(rows)
        starts = np.cumsum(lengths) - lengths
        out = np.empty((int(lengths.sum()), self.width), dtype=np.float32)
        for batch, vectors in batches:
            out[_places(starts[batch], lengths[batch])] = vectors
            done += len(batch)
            report(done)
        return out

    @torch.inference_mode()
    def _forward(self, rows: Sequence[TokenRow]) -> Vectors:
        tokens = PackedTokens.of([row.ids for row in rows], [row.n_seen for row in rows])
        return self.of_states(self.trunk.states(tokens), tokens, rows)

    @torch.inference_mode()
    def of_states(self, states: Tensor, tokens: PackedTokens, rows: Sequence[TokenRow]) -> Vectors:
        """(T, width): the vectors of the rows from the states (all tokens, H) of their tokens."""
        kept = [start + np.array(row.kept) for start, row in zip(tokens.starts(), rows, strict=True)]
        states = states[torch.from_numpy(np.concatenate(kept)).to(states.device)]
        vectors: Vectors = self.head(states.float()).cpu().numpy()  # (T, width)
        return vectors


def load_token_encoder(name: str = BUILTIN, device: str | None = None) -> TokenEncoder:
    """The encoder of a model named as `token_models` says, on the device named or the best there is.

    ModelNotFound or ModelRejected for what is missing, unsafe, or no late-interaction model.
    """
    return TokenEncoder.of_tower(token_tower_of(name), device)


def _lengths(rows: Sequence[TokenRow]) -> NDArray[np.int64]:
    return np.array([len(row.kept) for row in rows], dtype=np.int64)


def _places(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The indices start, start + 1, … of each range, one range after another."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
