"""Fine-tunes the span reader: labels from characters, one window an example, batches by token budget."""

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

from ..models.batching import token_budget_batches
from ..models.pair_template import SpecialTokens, special_tokens
from ..models.training import Progress, Recipe, freeze_word_embeddings, set_dropout, train
from ..models.trunk import taken_inputs
from .distillation import Distillation
from .examples import ReaderExample
from .loss import span_loss
from .sentence_head import add_sentence_head, sentence_loss, token_logits, token_ranges
from .windows import (
    MAX_QUESTION_TOKENS,
    NO_CONTEXT,
    Tokens,
    assemble,
    tokenize,
)

PAD_MULTIPLE = 32


@dataclass(frozen=True, slots=True)
class ReaderRecipe:
    """The settings of a reader's training beside those of the loop.

    `batch_tokens` is the padded size of a batch, `max_length` that of an input; a longer passage is cut
    to a random window around its answer. `epochs` passes over the data are made, shuffled by the seed.
    `dropout` is that of the hidden layers; attention dropout is always 0. With `sentence_weight` above 0
    the model gets a sentence head, whose loss counts so much beside that of the span, if sentences are known.
    """

    loop: Recipe = field(default_factory=Recipe)
    epochs: int = 1
    dropout: float = 0.0
    batch_tokens: int = 6144
    max_length: int = 320
    sentence_weight: float = 0.2


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A question, a window of its passage, and the gold tokens inside the window (None: no answer).

    `sentences` are the (n, 2) token ranges of the window's sentences; none without a sentence head.
    """

    question: NDArray[np.int32]
    window: NDArray[np.int32]
    first: int | None
    last: int | None
    sentences: NDArray[np.int32]

    @property
    def gold_sentence(self) -> int | None:
        """The number of the sentence in which the answer begins; None without an answer."""
        if self.first is None:
            return None
        return max(0, int(np.searchsorted(self.sentences[:, 0], self.first, side="right")) - 1)


def fine_tune(
    model: nn.Module,
    tokenizer: Any,
    examples: Sequence[ReaderExample],
    recipe: ReaderRecipe,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    report: Callable[[Progress], None] = lambda progress: None,
    split: Callable[[str], Sequence[tuple[int, int]]] | None = None,
    distil: Distillation | None = None,
    beside: Mapping[str, Any] | None = None,
) -> list[dict[str, float]]:
    """Trains `model` in place with frozen word embeddings; returns the evaluations, best weights kept.

    `split` says where the sentences of a text are; without it there is no sentence head. `distil` adds what
    teachers say; `beside` as for `models.training.train`.
    """
    sentence_weight = recipe.sentence_weight if split else 0.0
    if sentence_weight:
        add_sentence_head(model)
    freeze_word_embeddings(model)
    set_dropout(model, recipe.dropout)
    special = special_tokens(tokenizer)
    rows = training_rows(examples, tokenizer, special.count, recipe, split)
    batches = plan_batches(rows, special.count, recipe)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return batch_loss(model, [rows[i] for i in batch], special, sentence_weight, distil)

    return train(model, batches, loss, recipe.loop, folder, evaluate, "f1", report, beside)


def training_rows(
    examples: Sequence[ReaderExample],
    tokenizer: Any,
    n_special: int,
    recipe: ReaderRecipe,
    split: Callable[[str], Sequence[tuple[int, int]]] | None = None,
) -> list[TrainingRow]:
    """One row an example and epoch, in order of the examples; windows are drawn by the seed."""
    questions = _tokens_of({e.question for e in examples}, tokenizer)
    passages = _tokens_of({e.passage for e in examples}, tokenizer)
    sentences = {text: split(text) if split and recipe.sentence_weight else () for text in passages}
    rng = random.Random(recipe.loop.seed)
    return [
        _row(
            questions[e.question],
            passages[e.passage],
            sentences[e.passage],
            e,
            recipe.max_length - n_special,
            rng,
        )
        for _ in range(recipe.epochs)
        for e in examples
    ]


def token_labels(offsets: NDArray[np.int32], start: int, end: int) -> tuple[int, int]:
    """The first and last token that overlap the characters [start, end); offsets are (n, 2).

    A start inside a word moves to the piece that holds it; a span of no token raises ValueError.
    """
    inside = np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))
    if not len(inside):
        raise ValueError(f"no token covers the characters [{start}, {end})")
    return int(inside[0]), int(inside[-1])


def plan_batches(
    rows: Sequence[TrainingRow], n_special: int, recipe: ReaderRecipe
) -> list[NDArray[np.int64]]:
    """All batches of the run in order: shuffled, of like length inside a batch, reproducible by seed."""
    rng = np.random.default_rng(recipe.loop.seed)
    lengths = np.array([len(row.question) + len(row.window) + n_special for row in rows])
    per_epoch = len(rows) // recipe.epochs
    batches: list[NDArray[np.int64]] = []
    for epoch in range(recipe.epochs):
        order = rng.permutation(per_epoch) + epoch * per_epoch
        noisy = lengths[order] + rng.integers(0, PAD_MULTIPLE // 2, per_epoch)
        planned = token_budget_batches(noisy, recipe.batch_tokens, PAD_MULTIPLE)
        batches += [order[planned[i]] for i in rng.permutation(len(planned))]
    return batches


def batch_loss(
    model: nn.Module,
    rows: Sequence[TrainingRow],
    special: SpecialTokens,
    sentence_weight: float = 0.0,
    distil: Distillation | None = None,
) -> Tensor:
    """The span loss of a batch, teachers heeded, and that of its sentences times its weight.

    The softmax of a span's ends runs over the passage and the null position.
    """
    batch = assemble([(row.question, NO_CONTEXT, row.window) for row in rows], special, PAD_MULTIPLE)
    allowed = batch.passage_mask.copy()
    allowed[:, special.null] = True
    first = [special.null if r.first is None else s + r.first for r, s in zip(rows, batch.shift, strict=True)]
    last = [special.null if r.last is None else s + r.last for r, s in zip(rows, batch.shift, strict=True)]
    device = next(model.parameters()).device

    def put(values: Any) -> Tensor:
        return torch.as_tensor(np.asarray(values)).to(device)

    inputs = taken_inputs(model, put(batch.input_ids), put(batch.attention_mask), put(batch.token_type_ids))
    start, end, of_sentences = token_logits(model, inputs)
    counted = put(allowed)
    loss = span_loss(start, end, counted, put(first), put(last))
    if distil is not None:
        loss = distil.mixed(loss, inputs, start, end, counted)
    if of_sentences is None or not sentence_weight:
        return loss
    ranges = [row.sentences + s for row, s in zip(rows, batch.shift, strict=True)]
    gold = [row.gold_sentence for row in rows]
    return loss + sentence_weight * sentence_loss(of_sentences, ranges, special.null, gold)


def _tokens_of(texts: set[str], tokenizer: Any) -> dict[str, Tokens]:
    ordered = sorted(texts)
    return dict(zip(ordered, tokenize(tokenizer, ordered), strict=True))


def _row(
    question: Tokens,
    passage: Tokens,
    sentences: Sequence[tuple[int, int]],
    example: ReaderExample,
    room: int,
    rng: random.Random,
) -> TrainingRow:
    asked = question.ids[:MAX_QUESTION_TOKENS]
    room -= len(asked)
    n = len(passage.ids)
    if example.start is None or example.end is None:
        first = last = None
        at = rng.randint(0, max(0, n - room))
    else:
        first, last = token_labels(passage.offsets, example.start, example.end)
        last = min(last, first + room - 1)
        at = rng.randint(max(0, last - room + 1), min(first, max(0, n - room)))
        first, last = first - at, last - at
    window = passage.ids[at : at + room]
    ranges = token_ranges(passage.offsets, sentences, at, at + len(window))
    return TrainingRow(asked, window, first, last, ranges)
