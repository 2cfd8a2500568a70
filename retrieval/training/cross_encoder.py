"""Trains a cross-encoder: in each list of passages the positive one has to win.

A list is the question's positive passage with some of its negatives, drawn anew for each epoch; the loss is
-ln of the softmax at the positive one, so that only differences within a list count.

Source: Gao et al., "Rethink Training of BERT Rerankers in Multi-Stage Retrieval Pipeline", 2021 (localized
contrastive estimation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spanwise.types import RankingExample

from ...models.batching import shuffled_batches
from ...models.cross_encoder import PairRow, PairRows, PairScorer
from ...models.training import Progress, TrainingConfig, freeze_word_embeddings, train
from .lists import (
    PAD_MULTIPLE,
    draw_lists,
    in_rows,
    label_loss,
    length_buckets,
    mean_length,
)


@dataclass(frozen=True, slots=True)
class CrossEncoderConfig:
    """The settings beside those of the loop: `negatives` of a list, `batch_tokens` of a padded batch."""

    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(learning_rate=1e-4, evaluate_at=(0.5, 1.0))
    )
    epochs: int = 1
    negatives: int = 3
    batch_tokens: int = 6144
    max_length: int = 320


def fine_tune(
    model: PairScorer,
    tokenizer: Any,
    examples: Sequence[RankingExample],
    config: CrossEncoderConfig,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    select_by: str,
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """The evaluations of a run that trains `model` in place; the best weights stay in it."""
    freeze_word_embeddings(model)
    rows = PairRows(tokenizer, config.max_length)
    texts = rows.tokens_of(text for one in examples for text in (one.question, *one.passages))
    lists = draw_lists(examples, config.epochs, config.negatives, config.loop.seed)
    lengths = [mean_length([len(pair) for pair in pairs_of(one, texts, rows)]) for one in lists]
    budget = config.batch_tokens // (1 + config.negatives)
    batches = shuffled_batches(lengths, config.epochs, budget, PAD_MULTIPLE, config.loop.seed)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return list_loss(model, [lists[i] for i in batch], texts, rows)

    return train(model, batches, loss, config.loop, folder, evaluate, select_by, report)


def list_loss(
    model: nn.Module, lists: Sequence[RankingExample], texts: Mapping[str, NDArray[np.int32]], rows: PairRows
) -> Tensor:
    """The mean over lists of -ln p(positive); lists may differ in length."""
    pairs = [pair for one in lists for pair in pairs_of(one, texts, rows)]
    device = next(model.parameters()).device
    buckets = length_buckets([len(pair) for pair in pairs])
    found = [model(**padded_inputs([pairs[i] for i in bucket], rows, device)) for bucket in buckets]
    scores = torch.cat(found)[np.argsort(np.concatenate(buckets))]
    by_list = in_rows(scores.split([len(one.passages) for one in lists]))
    return label_loss(by_list, torch.zeros(len(lists), dtype=torch.long, device=device))


def pairs_of(one: RankingExample, texts: Mapping[str, NDArray[np.int32]], rows: PairRows) -> list[PairRow]:
    """A row for each passage of the list."""
    return [rows.row(texts[one.question], texts[passage]) for passage in one.passages]


def padded_inputs(pairs: Sequence[PairRow], rows: PairRows, device: torch.device) -> dict[str, Tensor]:
    """The inputs of a transformer, (B, L) each, L a multiple of 32."""
    names = ("input_ids", "attention_mask", "token_type_ids")
    batch = rows.packed(pairs).padded(rows.special.pad, PAD_MULTIPLE)
    return {name: torch.from_numpy(values).to(device) for name, values in zip(names, batch, strict=True)}
