"""A cross-encoder: question and passage go through the transformer together and come out as one score.

Every token of the one attends to every token of the other, which no index can do ahead of the question: so it
ranks what a retriever found, and teaches models that an index can hold.

Source: Nogueira and Cho, "Passage Re-ranking with BERT", 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .batched_encoder import BatchedEncoder
from .device_worker import RowEncoder
from .pair_rows import PairRow, PairRows

MAX_LENGTH = 384
PAIRS_AT_ONCE = 4096


class PairScorer(nn.Module):
    """A transformer and a head that makes one number of its first token's state; to be trained or loaded."""

    def __init__(self, trunk: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """(B,) float32 scores of a padded batch (B, L)."""
        states = self.trunk(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        scores: Tensor = self.head(states[:, 0].float())
        return scores[:, 0].float()


class CrossEncoder(BatchedEncoder[PairRow]):
    """Scores pairs; `digest` names all that scores depend on.

    A score does not depend on the pairs beside it beyond the rounding of bf16.
    """

    def __init__(
        self,
        scorer: PairScorer,
        tokenizer: Any,
        digest: str,
        max_length: int = MAX_LENGTH,
        batch_tokens: int | None = None,
        load: Callable[[str], RowEncoder] | None = None,
    ) -> None:
        super().__init__(scorer.trunk, batch_tokens, load)
        self.head, self.digest = scorer.head, digest
        self.rows = PairRows(tokenizer, max_length)

    def score(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        report: Callable[[int], None] = lambda done: None,
    ) -> list[NDArray[np.float32]]:
        """For each question a score for each of its passages, (n,) float32, higher being better.

        `report` hears how many pairs are done. A passage that is too long is read from its start.
        """
        pairs = [
            (question, text) for question, texts in zip(questions, passages, strict=True) for text in texts
        ]
        scores = np.empty(len(pairs), np.float32)
        for at in range(0, len(pairs), PAIRS_AT_ONCE):
            self._score_into(scores[at : at + PAIRS_AT_ONCE], pairs[at : at + PAIRS_AT_ONCE])
            report(min(at + PAIRS_AT_ONCE, len(pairs)))
        return np.split(scores, np.cumsum([len(texts) for texts in passages])[:-1]) if len(passages) else []

    def encode_rows(self, rows: Sequence[PairRow]) -> NDArray[np.float32]:
        """(n, 1): the scores of rows, on this device alone."""
        out = np.zeros((len(rows), 1), np.float32)
        for batch, scores in self._batches_here(rows, lambda i: f"pair {i}"):
            out[batch] = scores
        return out

    def _score_into(self, scores: NDArray[np.float32], pairs: Sequence[tuple[str, str]]) -> None:
        tokens = self.rows.tokens_of(text for pair in pairs for text in pair)
        rows = [self.rows.row(tokens[question], tokens[passage]) for question, passage in pairs]
        for batch, found in self._batches(rows, lambda i: repr(pairs[i][1][:60])):
            scores[batch] = found[:, 0]

    @torch.inference_mode()
    def _forward(self, rows: Sequence[PairRow]) -> NDArray[np.float32]:
        tokens = self.rows.packed(rows)
        states = self.trunk.states(tokens)  # (all tokens, H)
        first = states[torch.from_numpy(tokens.starts()).to(states.device)]
        scores: NDArray[np.float32] = self.head(first.float()).cpu().numpy()  # (B, 1)
        return scores
