"""A student in training as a scorer of lists, by its token vectors or by its dense heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from ...models.batching import token_budget_batches
from ...models.precision import autocast
from ...models.token_encoder import TokenRow, TokenRows
from .groups import PAD_MULTIPLE
from .student import Encoded, Student, max_sim

BATCH_TOKENS = 16384


class StudentScores:
    """Scores lists; each distinct text is encoded once, and all are held in memory."""

    def __init__(self, model: Student, sides: tuple[TokenRows, TokenRows]) -> None:
        self.model, self.sides = model, sides

    def both(
        self, questions: Sequence[str], passages: Sequence[Sequence[str]]
    ) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """For each question the MaxSim with each of its passages, and the cosines of the dense vectors."""
        asked = self._encoded(list(questions), "question")
        distinct = list(dict.fromkeys(text for texts in passages for text in texts))
        read = dict(zip(distinct, self._encoded(distinct, "passage"), strict=True))
        tokens, dense = [], []
        for question, texts in zip(asked, passages, strict=True):
            found = [read[text] for text in texts]
            tokens.append(np.array([float(max_sim(question, one)) for one in found], np.float32))
            dense.append(np.array([float((question.dense * one.dense).sum()) for one in found], np.float32))
        return tokens, dense

    @torch.inference_mode()
    def _encoded(self, texts: list[str], side: Literal["question", "passage"]) -> list[Encoded]:
        rows = self.sides[side == "passage"].of(texts)
        found: dict[int, Encoded] = {}
        for batch in token_budget_batches([len(row) for row in rows], BATCH_TOKENS, PAD_MULTIPLE):
            found |= zip(batch.tolist(), self._batch([rows[i] for i in batch], side), strict=True)
        return [found[i] for i in range(len(texts))]

    def _batch(self, rows: list[TokenRow], side: Literal["question", "passage"]) -> list[Encoded]:
        with autocast(self.model.projection.weight.device):
            encoded = self.model(rows, side)
        tokens, kept, dense = encoded.tokens.cpu(), encoded.kept.cpu(), encoded.dense.cpu()
        return [
            Encoded(tokens[i : i + 1, kept[i]], kept[i : i + 1, kept[i]], dense[i : i + 1])
            for i in range(len(rows))
        ]
