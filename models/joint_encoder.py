"""Passages become a vector each, and a vector for each token, in one go through the transformer.

That takes two models with the same transformer that cut passages alike: the base and a layer behind it, or
the dense heads of a student and its token vectors. The vectors are those that the two encoders give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from .batched_encoder import BatchedEncoder, Computed, Vectors
from .device_worker import RowEncoder
from .dual_encoder import DualEncoder
from .encoder import TextEncoder
from .packed_tokens import PackedTokens
from .token_encoder import TokenEncoder
from .token_rows import TokenRow
from .token_tower import TokenTower
from .tower import Tower


@dataclass(frozen=True, slots=True)
class JointVectors:
    """Of n passages `dense` (n, W), and `tokens` (T, w), one's after another's, `lengths` (n,) of each."""

    dense: Vectors
    tokens: Vectors
    lengths: NDArray[np.int64]


class JointEncoder(BatchedEncoder[TokenRow]):
    """Encodes passages by the transformer of `tokens` and the heads of both; `joined` says of which two.

    A batch is one row of numbers: the vectors of its passages, then those of all their tokens. `dense_digest`
    is that of the model that `dense` is a side of.
    """

    def __init__(
        self,
        dense: TextEncoder,
        tokens: TokenEncoder,
        dense_digest: str = "",
        load: Callable[[str], RowEncoder] | None = None,
    ) -> None:
        super().__init__(tokens.model, tokens.batcher.budget, load)
        self.dense, self.tokens, self.trunk = dense, tokens, tokens.trunk
        self.dense_digest = dense_digest or dense.digest

    @classmethod
    def of_towers(cls, dense: Tower, tokens: TokenTower, device: str) -> JointEncoder:
        """The encoder of two towers that `joined` joins, on one device."""
        of_tokens = TokenEncoder.of_tower(tokens, device)
        return cls(TextEncoder.of_tower(dense, "passage", device, of_tokens), of_tokens)

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> JointVectors:
        """What `encode_passages` of both encoders gives; `report` hears how many texts are done."""
        dense = np.empty((len(texts), self.dense.width), dtype=np.float32)
        tokens, lengths = [np.empty((0, self.tokens.width), np.float32)], [np.empty(0, np.int64)]
        for first, rows, batches in self._windows(texts, self.tokens.passages.of):
            of_tokens = self._without_dense(batches, dense[first : first + len(rows)])
            tokens.append(self.tokens.in_order(rows, of_tokens, report, first))
            lengths.append(np.array([len(row.kept) for row in rows], np.int64))
        return JointVectors(dense, np.concatenate(tokens), np.concatenate(lengths))

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n,) int32: how many code points of each passage, from its start, are seen; all, if it fits."""
        return self.tokens.covered(texts)

    def encode_rows(self, rows: Sequence[TokenRow]) -> Vectors:
        """All rows as one batch, computed on this device alone."""
        dense = np.empty((len(rows), self.dense.width), dtype=np.float32)
        batches = self._batches_here(rows, lambda i: f"sequence {i}")
        tokens = self.tokens.in_order(rows, self._without_dense(batches, dense))
        return np.concatenate([dense.ravel(), tokens.ravel()])

    def _without_dense(self, batches: Iterable[Computed], dense: Vectors) -> Iterator[Computed]:
        """The batches with the vectors of tokens alone; those of passages go where they belong in `dense`."""
        for batch, found in batches:
            n_dense = len(batch) * self.dense.width
            dense[batch] = found[:n_dense].reshape(len(batch), -1)
            yield batch, found[n_dense:].reshape(-1, self.tokens.width)

    @torch.inference_mode()
    def _forward(self, rows: Sequence[TokenRow]) -> Vectors:
        tokens = PackedTokens.of([row.ids for row in rows])
        states = self.trunk.states(tokens)  # (all tokens, H)
        dense, of_tokens = self.dense.of_states(states, tokens), self.tokens.of_states(states, tokens, rows)
        return np.concatenate([dense.ravel(), of_tokens.ravel()])


def joined(encoder: object, tokens: object) -> JointEncoder | None:
    """The joint encoder of two that see the same states of passages; None for all others.

    The same are the transformer, its tokenizer, the prompt and the limit; passages must not be filled up.
    """
    if not isinstance(encoder, TextEncoder | DualEncoder) or not isinstance(tokens, TokenEncoder):
        return None
    dense = encoder.passage if isinstance(encoder, DualEncoder) else encoder
    if dense.tower is None:
        return None
    tower, network = dense.tower, tokens.tower.network
    same_network = (tower.weights, tower.folder, tower.lowercase) == (
        (network.weights, network.folder, network.lowercase)
    )
    ours, theirs = dense.texts, tokens.passages.texts
    same_texts = (ours.prompt, ours.max_length) == (theirs.prompt, theirs.max_length)
    altered = tower.dpr or tokens.tower.markers or tokens.tower.passage.expansion
    if not (same_network and same_texts) or altered or dense.device != tokens.device:
        return None
    load = partial(JointEncoder.of_towers, tower, tokens.tower)
    return JointEncoder(dense, tokens, encoder.digest, load)
