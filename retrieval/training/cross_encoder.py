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

from ...models.cross_encoder import PairRow, PairRows, PairScorer
from ...models.training import Progress, TrainingConfig, freeze_word_embeddings, set_dropout, train
from .groups import PAD_MULTIPLE, Group, drawn_groups, length_buckets, mean_length, plan_groups
from .losses import label_loss


@dataclass(frozen=True, slots=True)
class CrossEncoderRecipe:
    """The settings beside those of the loop: `negatives` of a list, `batch_tokens` of a padded batch."""

    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(learning_rate=1e-4, evaluate_at=(0.5, 1.0))
    )
    epochs: int = 1
    negatives: int = 3
    batch_tokens: int = 6144
    max_length: int = 320
    dropout: float = 0.0


def fine_tune_cross_encoder(
    model: PairScorer,
    tokenizer: Any,
    examples: Sequence[RankingExample],
    recipe: CrossEncoderRecipe,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    select_by: str,
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains `model` in place with frozen word embeddings; returns the evaluations, best weights kept."""
    freeze_word_embeddings(model)
    set_dropout(model, recipe.dropout)
    rows = PairRows(tokenizer, recipe.max_length)
    texts = rows.tokens_of(text for one in examples for text in (one.question, *one.passages))
    groups = drawn_groups(examples, recipe.epochs, recipe.negatives, recipe.loop.seed)
    lengths = [mean_length([len(pair) for pair in pairs_of(group, texts, rows)]) for group in groups]
    budget = recipe.batch_tokens // (1 + recipe.negatives)
    batches = plan_groups(groups, lengths, recipe.epochs, budget, recipe.loop.seed)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return group_loss(model, [groups[i] for i in batch], texts, rows)

    return train(model, batches, loss, recipe.loop, folder, evaluate, select_by, report)


def group_loss(
    model: nn.Module, groups: Sequence[Group], texts: Mapping[str, NDArray[np.int32]], rows: PairRows
) -> Tensor:
    """The mean over groups of -ln p(positive); groups may differ in size."""
    pairs = [pair for group in groups for pair in pairs_of(group, texts, rows)]
    device = next(model.parameters()).device
    buckets = length_buckets([len(pair) for pair in pairs])
    found = [model(**padded_inputs([pairs[i] for i in bucket], rows, device)) for bucket in buckets]
    scores = torch.cat(found)[np.argsort(np.concatenate(buckets))]
    split = scores.split([len(g.passages) for g in groups])
    lists = nn.utils.rnn.pad_sequence(list(split), batch_first=True, padding_value=-torch.inf)
    return label_loss(lists, torch.zeros(len(groups), dtype=torch.long, device=device))


def pairs_of(group: Group, texts: Mapping[str, NDArray[np.int32]], rows: PairRows) -> list[PairRow]:
    """A row for each passage of the group."""
    return [rows.row(texts[group.question], texts[passage]) for passage in group.passages]


def padded_inputs(pairs: Sequence[PairRow], rows: PairRows, device: torch.device) -> dict[str, Tensor]:
    """The batch that a transformer takes, (B, L) each, L a multiple of 32."""
    ids, mask, types = rows.packed(pairs).padded(rows.special.pad)
    wide = (0, -ids.shape[1] % PAD_MULTIPLE)

    def put(values: NDArray[np.int64], filler: int) -> Tensor:
        return nn.functional.pad(torch.from_numpy(values), wide, value=filler).to(device)

    return {
        "input_ids": put(ids, rows.special.pad),
        "attention_mask": put(mask, 0),
        "token_type_ids": put(types, 0),
    }
