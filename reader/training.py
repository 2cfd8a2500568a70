"""Fine-tuning of the span reader: examples, one window an example, batches by token budget, the loss.

    loss = -ln P(first) - ln P(last) + w * -ln P(gold sentence)

The softmax of first and last token runs over the passage and [CLS], that of the sentence head over the
sentences of the window and [CLS]. The head is one more vector over the token states:

    score(sentence) = mean over its tokens t of w . T_t + b  -  (w . T_[CLS] + b)

so that a score above 0 speaks for the sentence and against "no answer".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..models.batching import shuffled_batches
from ..models.packed import model_inputs
from ..models.tokenizer import SpecialTokens, special_tokens
from ..models.training import Progress, TrainingConfig, freeze_word_embeddings, set_dropout, train
from .span_reader import SENTENCE_HEAD
from .spans import MAX_QUESTION_TOKENS, NO_CONTEXT, Tokens, assemble, tokenize

if TYPE_CHECKING:
    from torch import Tensor, nn

PAD_MULTIPLE = 32
Split = Callable[[str], Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class ReaderExample:
    """A question on a passage; the answer is `passage[start:end]`, or start is None for no answer.

    `group` names the article, so that other passages of the same article can stand in for it.
    """

    id: str
    question: str
    passage: str
    start: int | None
    end: int | None
    group: str

    @property
    def answer(self) -> str:
        """The words of the answer, or the empty string."""
        return "" if self.start is None else self.passage[self.start : self.end]


@dataclass(frozen=True, slots=True)
class ReaderTrainingConfig:
    """The settings of a reader's training; `loop` has those of the training loop.

    `batch_tokens` is the padded size of a batch, `max_length` the length of an input; a longer passage is
    cut to a random window around its answer. `epochs` passes over the data are made, shuffled by the seed.
    `dropout` is that of the hidden layers; attention dropout is always 0. With `sentence_weight` above 0
    the model gets a sentence head, and its loss this weight.
    """

    loop: TrainingConfig = field(default_factory=TrainingConfig)
    epochs: int = 1
    dropout: float = 0.0
    batch_tokens: int = 6144
    max_length: int = 320
    sentence_weight: float = 0.2


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A question, a window of its passage, and the gold tokens inside the window (None: no answer).

    `sentences` are the (n, 2) token ranges of the window's sentences; empty without a sentence head.
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
    recipe: ReaderTrainingConfig,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    report: Callable[[Progress], None] = lambda progress: None,
    split: Split | None = None,
) -> list[dict[str, float]]:
    """The evaluations of a run that trains `model` in place; the best weights stay in it.

    Word embeddings are frozen. `split` gives the sentences of a text; without it there is no sentence head.
    `folder` as for `models.training.train`.
    """
    sentence_weight = recipe.sentence_weight if split else 0.0
    if sentence_weight:
        add_sentence_head(model)
    freeze_word_embeddings(model)
    set_dropout(model, recipe.dropout)
    special = special_tokens(tokenizer)
    rows = training_rows(examples, tokenizer, special.count, recipe, split)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return batch_loss(model, [rows[i] for i in batch], special, sentence_weight)

    lengths = [len(row.question) + len(row.window) + special.count for row in rows]
    seed = recipe.loop.seed
    batches = shuffled_batches(lengths, recipe.epochs, recipe.batch_tokens, PAD_MULTIPLE, seed)
    return train(model, batches, loss, recipe.loop, folder, evaluate, "f1", report)


def training_rows(
    examples: Sequence[ReaderExample],
    tokenizer: Any,
    n_special: int,
    recipe: ReaderTrainingConfig,
    split: Split | None = None,
) -> list[TrainingRow]:
    """One row an example and epoch, in the order of the examples; windows are drawn by the seed."""
    questions = _tokens_of({e.question for e in examples}, tokenizer)
    passages = _tokens_of({e.passage for e in examples}, tokenizer)
    sentences = {text: split(text) if split and recipe.sentence_weight else () for text in passages}
    rng = random.Random(recipe.loop.seed)
    room = recipe.max_length - n_special
    return [
        _row(questions[e.question], passages[e.passage], sentences[e.passage], e, room, rng)
        for _ in range(recipe.epochs)
        for e in examples
    ]


def token_labels(offsets: NDArray[np.int32], start: int, end: int) -> tuple[int, int]:
    """The first and last token that overlap the characters [start, end); offsets are (n, 2).

    A start inside a word moves to the piece that holds it. ValueError for a span without a token.
    """
    inside = np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))
    if not len(inside):
        raise ValueError(f"no token covers the characters [{start}, {end})")
    return int(inside[0]), int(inside[-1])


def token_ranges(
    offsets: NDArray[np.int32], sentences: Sequence[tuple[int, int]], first: int, after: int
) -> NDArray[np.int32]:
    """(n, 2) int32: the sentences inside the window of tokens [first, after), relative to `first`.

    `offsets` are the (n, 2) characters of a passage's tokens. A sentence without a token in the window is
    left out; one that crosses its edge keeps the tokens inside.
    """
    found = []
    for start, end in sentences:
        left, right = (int(np.searchsorted(offsets[:, 0], edge)) for edge in (start, end))
        left, right = max(left, first), min(right, after)
        if left < right:
            found.append((left - first, right - first))
    return np.array(found, dtype=np.int32).reshape(-1, 2)


def batch_loss(
    model: nn.Module, rows: Sequence[TrainingRow], special: SpecialTokens, sentence_weight: float = 0.0
) -> Tensor:
    """The span loss of a batch, plus `sentence_weight` times that of its sentences."""
    import torch

    batch = assemble([(row.question, NO_CONTEXT, row.window) for row in rows], special, PAD_MULTIPLE)
    allowed = batch.passage_mask.copy()
    allowed[:, special.null] = True
    first = [special.null if r.first is None else s + r.first for r, s in zip(rows, batch.shift, strict=True)]
    last = [special.null if r.last is None else s + r.last for r, s in zip(rows, batch.shift, strict=True)]
    device = next(model.parameters()).device

    def put(values: Any) -> Tensor:
        return torch.as_tensor(np.asarray(values)).to(device)

    inputs = model_inputs(model, put(batch.input_ids), put(batch.attention_mask), put(batch.token_type_ids))
    start, end, of_sentences = _token_logits(model, inputs)
    loss = span_loss(start, end, put(allowed), put(first), put(last))
    if of_sentences is None or not sentence_weight:
        return loss
    ranges = [row.sentences + s for row, s in zip(rows, batch.shift, strict=True)]
    gold = [row.gold_sentence for row in rows]
    return loss + sentence_weight * sentence_loss(of_sentences, ranges, special.null, gold)


def span_loss(start: Tensor, end: Tensor, allowed: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """The mean over the batch of -ln P(first) - ln P(last): the sum of the two cross-entropies.

    `start`, `end`: (B, L) logits. `allowed`: (B, L) bool, the positions of the softmax (passage tokens
    and [CLS]). `first`, `last`: (B,) int64 gold positions, that of [CLS] for no answer.
    Source: Devlin et al. 2019, section 4.2. Deviation: the sum, where several libraries halve it.

    >>> import torch
    >>> start, end = torch.tensor([[1, 5, 2, 0.]]), torch.tensor([[4, 1, 3, 2.]])
    >>> allowed = torch.ones(1, 4, dtype=torch.bool)
    >>> round(float(span_loss(start, end, allowed, torch.tensor([1]), torch.tensor([2]))), 5)
    1.51236
    """
    import torch
    from torch.nn.functional import cross_entropy

    start, end = (one.float().masked_fill(~allowed, -torch.inf) for one in (start, end))
    return cross_entropy(start, first) + cross_entropy(end, last)


def sentence_loss(
    logits: Tensor, sentences: Sequence[NDArray[np.int32]], null: int, gold: Sequence[int | None]
) -> Tensor:
    """The mean over the batch of -ln P(gold sentence), or of -ln P(null) where gold is None.

    `logits`: (B, L) of tokens. `sentences[i]`: (n, 2) first token and the one after the last, at least one
    token each. `null`: the position of [CLS]. The softmax runs over the sentences of a row and its null.

    >>> import torch
    >>> logits = torch.tensor([[0.0, 2.0, 4.0, 1.0]])
    >>> round(float(sentence_loss(logits, [np.array([[1, 3], [3, 4]], np.int32)], 0, [0])), 5)
    0.16985
    """
    import torch
    from torch.nn.functional import cross_entropy

    most = max(len(ranges) for ranges in sentences)
    rows = np.zeros((len(sentences), most + 1, logits.shape[1]), dtype=np.float32)  # (B, S + 1, L)
    present = np.zeros(rows.shape[:2], dtype=np.bool_)
    rows[:, 0, null], present[:, 0] = 1, True
    for row, ranges, real in zip(rows, sentences, present, strict=True):
        for i, (first, after) in enumerate(ranges, start=1):
            row[i, first:after], real[i] = 1 / (after - first), True
    averaging = torch.from_numpy(rows).to(logits.device)
    scores = torch.bmm(averaging, logits.float().unsqueeze(-1)).squeeze(-1)  # (B, S + 1)
    scores = scores.masked_fill(~torch.from_numpy(present).to(logits.device), -torch.inf)
    wanted = torch.tensor([0 if one is None else one + 1 for one in gold], device=logits.device)
    return cross_entropy(scores, wanted)


def add_sentence_head(model: nn.Module) -> None:
    """Gives a span model the sentence head, drawn from torch's generator; keeps one that it has."""
    from torch import nn

    if not hasattr(model, SENTENCE_HEAD):
        config: Any = model.config
        head = nn.Linear(config.hidden_size, 1)
        nn.init.normal_(head.weight, std=getattr(config, "initializer_range", 0.02))
        nn.init.zeros_(head.bias)
        model.add_module(SENTENCE_HEAD, head)


def _token_logits(model: Any, inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
    """The start, end and sentence logits of the tokens, (B, L) each; no sentence logits without the head."""
    head = getattr(model, SENTENCE_HEAD, None)
    if head is None:
        output = model(**inputs)
        return output.start_logits, output.end_logits, None
    states = model.base_model(**inputs).last_hidden_state
    start, end = model.qa_outputs(states).unbind(-1)
    return start, end, head(states).squeeze(-1)


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
    question_ids = question.ids[:MAX_QUESTION_TOKENS]
    room -= len(question_ids)
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
    return TrainingRow(question_ids, window, first, last, ranges)
