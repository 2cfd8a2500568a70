"""Trains a cross-encoder: in each list of passages the positive one has to win.

A list is the question's positive passage with some of its negatives, drawn anew for each epoch; the loss is
-ln of the softmax at the positive one, so that only differences within a list count.

Source: Gao et al., "Rethink Training of BERT Rerankers in Multi-Stage Retrieval Pipeline", 2021 (localized
contrastive estimation).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spanwise.types import RankingExample

from ...models.batching import token_budget_batches
from ...models.cross_encoder import PairScorer
from ...models.pair_rows import PairRow, PairRows
from ...models.training import Progress, Recipe, freeze_word_embeddings, set_dropout, train
from .losses import label_loss

PAD_MULTIPLE = 32


@dataclass(frozen=True, slots=True)
class CrossEncoderRecipe:
    """The settings beside those of the loop: `negatives` of a list, `batch_tokens` of a padded batch."""

    loop: Recipe = field(default_factory=lambda: Recipe(learning_rate=1e-4, evaluate_at=(0.5, 1.0)))
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
    groups = drawn_groups(examples, recipe)
    batches = plan_groups(groups, texts, recipe)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return group_loss(model, [groups[i] for i in batch], texts, rows)

    return train(model, batches, loss, recipe.loop, folder, evaluate, select_by, report)


@dataclass(frozen=True, slots=True)
class Group:
    """A question with passages, the positive one first."""

    question: str
    passages: tuple[str, ...]


def drawn_groups(examples: Sequence[RankingExample], recipe: CrossEncoderRecipe) -> list[Group]:
    """A group for each example and epoch, in their order; an example without negatives is left out."""
    rng = random.Random(recipe.loop.seed)
    groups = []
    for _ in range(recipe.epochs):
        for one in examples:
            others = one.passages[one.n_positive :]
            if others:
                negatives = rng.sample(others, min(recipe.negatives, len(others)))
                groups.append(Group(one.question, (one.passages[rng.randrange(one.n_positive)], *negatives)))
    return groups


def plan_groups(
    groups: Sequence[Group], texts: Mapping[str, NDArray[np.int32]], recipe: CrossEncoderRecipe
) -> list[NDArray[np.int64]]:
    """All batches of the run in order: epochs one after another, each shuffled, of like length in a batch."""
    rng = np.random.default_rng(recipe.loop.seed)
    longest = np.array([max(len(texts[p]) for p in g.passages) + len(texts[g.question]) for g in groups])
    lengths = np.minimum(longest + 3, recipe.max_length)
    per_epoch = len(groups) // recipe.epochs
    batches: list[NDArray[np.int64]] = []
    for epoch in range(recipe.epochs):
        order = rng.permutation(per_epoch) + epoch * per_epoch
        noisy = lengths[order] + rng.integers(0, PAD_MULTIPLE // 2, per_epoch)
        budget = recipe.batch_tokens // (1 + recipe.negatives)
        planned = token_budget_batches(noisy, budget, PAD_MULTIPLE)
        batches += [order[planned[i]] for i in rng.permutation(len(planned))]
    return batches


def group_loss(
    model: nn.Module, groups: Sequence[Group], texts: Mapping[str, NDArray[np.int32]], rows: PairRows
) -> Tensor:
    """The mean over groups of -ln p(positive); groups may differ in size."""
    pairs = [rows.row(texts[g.question], texts[passage]) for g in groups for passage in g.passages]
    device = next(model.parameters()).device
    scores = model(**padded_inputs(pairs, rows, device))
    split = scores.split([len(g.passages) for g in groups])
    lists = nn.utils.rnn.pad_sequence(list(split), batch_first=True, padding_value=-torch.inf)
    return label_loss(lists, torch.zeros(len(groups), dtype=torch.long, device=device))


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
