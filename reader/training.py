"""Fine-tuning of the span reader: groups of passages, one window per passage, batches by tokens.

A group is a question with an answering passage and hard negatives, or with a single passage. A model without
the evidence head is trained only by the losses of spans, see `losses`. With the labels of a teacher, a model
also learns from the teacher's logits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..models.batching import PackedTokens, shuffled_batches
from ..models.numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS
from ..models.packed_forward import model_inputs, packable_part
from ..models.packed_training import training_states
from ..models.tokenizer import SpecialTokens, special_tokens
from ..models.training import Progress, TrainingConfig, freeze, train
from . import losses, spans
from .labels import LabelStore, PairLabel
from .spans import Floats, Ints, Ranges, Split, Tokens

PAD_MULTIPLE = 32
Labels = tuple[float, float, float]
"""1 or 0 for the outputs yes_no, yes and several; -1 for unknown."""
UNKNOWN: Labels = (-1.0, -1.0, -1.0)


@dataclass(frozen=True, slots=True)
class ReaderExample:
    """A question on a passage; the answer is `passage[start:end]`.

    start, end: code points of the passage; None for no answer.
    group: the article, whose other passages can replace this one.
    context: the headings above the passage, as `span_reader.context_of` gives them.
    negatives: pairs of context and passage that do not answer the question.
    labels: whether it is a yes-no question, whether the answer is yes, and whether several things are asked
        for.
    """

    id: str
    question: str
    passage: str
    start: int | None
    end: int | None
    group: str
    context: str = ""
    negatives: tuple[tuple[str, str], ...] = ()
    labels: Labels = UNKNOWN

    @property
    def answer(self) -> str:
        """The text of the answer, or the empty string."""
        return "" if self.start is None else self.passage[self.start : self.end]

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Context and passage of every row of the group, the answering one first."""
        return ((self.context, self.passage), *self.negatives)


@dataclass(frozen=True, slots=True)
class ReaderTrainingConfig:
    """The settings of a reader's training.

    loop: the settings of the training loop.
    epochs: passes over the data, shuffled by the seed.
    batch_tokens: the size of a batch with padding, for groups of average size.
    max_length: of an input, in tokens; a longer passage is cut to a random window around its answer.
    tokens: training ends after about this number of tokens, at the latest after the epochs.
    negatives: the number of negatives per group; 0 means one to three.
    frozen_layers: the number of lowest layers that are not trained.
    shared: weight of `losses.shared_normalization_loss`.
    distilled: share of the distillation loss, from 0 to 1, for groups with a teacher's labels.
    temperature: of the distillation loss. There is no dropout.
    """

    loop: TrainingConfig = field(default_factory=TrainingConfig)
    epochs: int = 1
    batch_tokens: int = 6144
    max_length: int = 320
    tokens: int | None = None
    negatives: int = 0
    frozen_layers: int = 0
    shared: float = 0.0
    distilled: float = 0.75
    temperature: float = 2.0


FOLDER_LOOP = TrainingConfig(learning_rate=1.2e-4, layer_decay=0.85, evaluate_at=(1.0,))
PAIRS_LOOP = TrainingConfig(learning_rate=2e-4, layer_decay=0.9, evaluate_at=(1.0,), checkpoint_every=200)
LISTS_LOOP = TrainingConfig(learning_rate=3e-4, layer_decay=0.9, evaluate_at=(1.0,), checkpoint_every=100)
RECIPES: Mapping[str, ReaderTrainingConfig] = {
    "squad": ReaderTrainingConfig(),
    "folder": ReaderTrainingConfig(FOLDER_LOOP, batch_tokens=8192, max_length=352),
    "pairs": ReaderTrainingConfig(PAIRS_LOOP, batch_tokens=3072, max_length=352, negatives=1, shared=1.0),
    "lists": ReaderTrainingConfig(LISTS_LOOP, batch_tokens=8192, max_length=352, negatives=3, shared=1.0),
}


@dataclass(frozen=True, slots=True, eq=False)
class TeacherWindow:
    """A teacher's logits for a window of n tokens.

    start, end: (n,) float32, -inf for a token outside the teacher's label.
    support: (n,) float32, the logit of the token's sentence; NaN outside all sentences.
    null: the start and the end logit of "no answer".
    relevance: the logit that the passage answers.
    """

    start: Floats
    end: Floats
    support: Floats
    null: tuple[float, float]
    relevance: float

    @classmethod
    def of(cls, label: PairLabel, tokens: Tokens, sentences: Ranges, window: slice) -> Self:
        """The part of a label that covers a window of a passage with these tokens and sentences."""
        start = np.full(len(tokens.ids), -np.inf, np.float32)
        end = np.full(len(tokens.ids), -np.inf, np.float32)
        support = np.full(len(tokens.ids), np.nan, np.float32)
        start[label.start_positions] = label.start_logits
        end[label.end_positions] = label.end_logits
        for sentence, value in zip(sentences, label.support, strict=True):
            first, after = np.searchsorted(tokens.offsets[:, 0], sentence)
            support[first:after] = value
        null = (label.null_start, label.null_end)
        return cls(start[window], end[window], support[window], null, label.relevance)


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """An input of the model with its targets.

    question, context: token ids, (n,) int32.
    window: the token ids of a part of the passage, (n,) int32.
    answer: the first and the last token of the answer in the window; None without the answer.
    support: the same for the sentences of the answer.
    labels: see `ReaderExample`.
    teacher: a teacher's logits for the window, or None.
    first: the position of the window's first token in the passage.
    """

    question: Ints
    context: Ints
    window: Ints
    answer: tuple[int, int] | None = None
    support: tuple[int, int] | None = None
    labels: Labels = UNKNOWN
    teacher: TeacherWindow | None = None
    first: int = 0

    @property
    def ids(self) -> spans.Row:
        """The token ids of question, context and window."""
        return self.question, self.context, self.window


Group = Sequence[TrainingRow]


def fine_tune(
    model: nn.Module,
    tokenizer: Any,
    examples: Sequence[ReaderExample],
    recipe: ReaderTrainingConfig,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    report: Callable[[Progress], None] = lambda progress: None,
    split: Split = lambda text: (),
    evidence: bool = False,
    select_by: str = "f1",
    labels: LabelStore | None = None,
) -> list[dict[str, float]]:
    """Trains `model` in place and returns the evaluations; the best weights stay in it.

    Word embeddings are frozen. `labels` are those of a teacher. `evidence` adds the evidence head to the
    model, for which `split` gives the sentences of a text. `folder` and `select_by` as for
    `models.training.train`.
    """
    if evidence:
        add_evidence_head(model)
    special = special_tokens(tokenizer)
    groups = training_groups(examples, tokenizer, special.count, recipe, split, labels)
    return train_groups(model, groups, special, recipe, folder, evaluate, report, select_by)


def train_groups(
    model: nn.Module,
    groups: Sequence[Group],
    special: SpecialTokens,
    recipe: ReaderTrainingConfig,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    report: Callable[[Progress], None],
    select_by: str = "step",
) -> list[dict[str, float]]:
    """Trains `model` as `fine_tune` does, on groups of rows; `groups` holds those of all epochs."""
    freeze(model, recipe.frozen_layers)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return batch_loss(model, [groups[i] for i in batch], special, recipe)

    lengths = [[special.count + sum(map(len, row.ids)) for row in group] for group in groups]
    budget = recipe.batch_tokens * len(groups) // max(1, sum(map(len, groups)))
    batches = shuffled_batches(list(map(max, lengths)), recipe.epochs, budget, PAD_MULTIPLE, recipe.loop.seed)
    if recipe.tokens is not None:
        n_tokens = np.cumsum([sum(sum(lengths[i]) for i in batch) for batch in batches])
        batches = batches[: 1 + int(np.searchsorted(n_tokens, recipe.tokens))]
    return train(model, batches, loss, recipe.loop, folder, evaluate, select_by, report)


def training_groups(
    examples: Sequence[ReaderExample],
    tokenizer: Any,
    n_special: int,
    recipe: ReaderTrainingConfig,
    split: Split,
    labels: LabelStore | None = None,
) -> list[list[TrainingRow]]:
    """The rows of every example, for each epoch, in the order of the examples; windows are drawn by the seed.

    ValueError if `max_length` leaves no room for a passage.
    """
    contexts = {context for example in examples for context, _ in example.texts}
    passages = {passage for example in examples for _, passage in example.texts}
    answering = {example.passage for example in examples if example.start is not None}
    rows = _Rows(
        _tokens_of({example.question for example in examples}, tokenizer, spans.MAX_QUESTION_TOKENS),
        _tokens_of(contexts, tokenizer, spans.MAX_CONTEXT_TOKENS),
        _tokens_of(passages, tokenizer),
        {passage: split(passage) for passage in (answering if labels is None else passages)},
        recipe.max_length - n_special,
        labels,
    )
    rng = random.Random(recipe.loop.seed)
    return [
        [rows.draw(example, number, rng) for number in range(len(example.texts))]
        for _ in range(recipe.epochs)
        for example in examples
    ]


def _tokens_of(texts: set[str], tokenizer: Any, most: int | None = None) -> dict[str, Tokens]:
    """The first `most` tokens of each text."""
    ordered = sorted(texts)
    tokens = [Tokens(whole.ids[:most], whole.offsets[:most]) for whole in spans.tokenize(tokenizer, ordered)]
    return dict(zip(ordered, tokens, strict=True))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Draws training rows from the tokens of all texts.

    sentences: character ranges, for passages with an answer; for all passages if there are `labels`.
    max_tokens: of a row, without the special tokens.
    """

    questions: Mapping[str, Tokens]
    contexts: Mapping[str, Tokens]
    passages: Mapping[str, Tokens]
    sentences: Mapping[str, Ranges]
    max_tokens: int
    labels: LabelStore | None

    def draw(self, example: ReaderExample, number: int, rng: random.Random) -> TrainingRow:
        """A row for passage `number` of an example: a random window, around the answer if there is one."""
        context, passage = example.texts[number]
        question_ids = self.questions[example.question].ids
        context_ids = self.contexts[context].ids
        room = self.max_tokens - len(question_ids) - len(context_ids)
        if room < 1:
            raise ValueError(f"max_length is too small: no passage fits after {context!r:.40}. Raise it.")
        tokens = self.passages[passage]
        max_first = max(0, len(tokens.ids) - room)
        if number or example.start is None or example.end is None:
            first = rng.randint(0, max_first)
            targets: dict[str, Any] = {}
        else:
            answer, last = token_labels(tokens.offsets, example.start, example.end)
            last = min(last, answer + room - 1)
            first = rng.randint(max(0, last - room + 1), min(answer, max_first))
            support = self._support(passage, example.start, example.end, first, room)
            targets = {"answer": (answer - first, last - first), "support": support, "labels": example.labels}
        window = slice(first, first + room)
        teacher = self._teacher(example, number, window)
        return TrainingRow(
            question_ids, context_ids, tokens.ids[window], teacher=teacher, first=first, **targets
        )

    def _support(self, passage: str, start: int, end: int, first: int, room: int) -> tuple[int, int]:
        """The first and last token of the answer's sentences in the window."""
        tokens = self.passages[passage]
        touched = [(s, e) for s, e in self.sentences[passage] if s < end and e > start]
        start = min([start, *(s for s, _ in touched)])
        end = max([end, *(e for _, e in touched)])
        left, right = token_labels(tokens.offsets, start, end)
        window_end = min(len(tokens.ids), first + room)
        return max(0, left - first), min(right, window_end - 1) - first

    def _teacher(self, example: ReaderExample, number: int, window: slice) -> TeacherWindow | None:
        """The teacher's logits for a window; None unless its label has the right length and a relevance."""
        context, passage = example.texts[number]
        tokens = self.passages[passage]
        label = self.labels.get(example.question, context, passage) if self.labels is not None else None
        if label is None or label.n_tokens != len(tokens.ids) or math.isnan(label.relevance):
            return None
        return TeacherWindow.of(label, tokens, self.sentences[passage], window)


def token_labels(offsets: Ints, start: int, end: int) -> tuple[int, int]:
    """The first and last token that overlap the characters [start, end); offsets are (n, 2).

    A start inside a word moves to the word piece that holds it. ValueError for a span without a token.
    """
    inside = np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))
    if not len(inside):
        raise ValueError(f"no token covers the characters [{start}, {end})")
    return int(inside[0]), int(inside[-1])


def batch_loss(
    model: nn.Module, groups: Sequence[Group], special: SpecialTokens, recipe: ReaderTrainingConfig
) -> Tensor:
    """The weighted sum of the losses of a batch; see `losses`."""
    rows = [row for group in groups for row in group]
    batch = spans.assemble([row.ids for row in rows], special, PAD_MULTIPLE)
    logits = _token_logits(model, batch)
    loss = _supervised_loss(logits, groups, batch, special.null, recipe)
    n_distilled = sum(any(row.teacher for row in group) for group in groups)
    if logits.evidence is None or not n_distilled:
        return loss
    distillation = losses.distillation_loss(
        logits.start,
        logits.end,
        logits.evidence,
        _teacher_logits(rows, batch, logits.start.device),
        torch.from_numpy(batch.passage_mask).to(logits.start.device),
        special.null,
        [len(group) for group in groups],
        recipe.temperature,
    )
    share = recipe.distilled * n_distilled / len(groups)
    total: Tensor = (1 - share) * loss + share * distillation
    return total


class _TokenLogits(NamedTuple):
    """start, end: (B, L). evidence: (B, L, 5), None without the evidence head."""

    start: Tensor
    end: Tensor
    evidence: Tensor | None


def _token_logits(model: Any, batch: spans.ModelInput) -> _TokenLogits:
    device = next(model.parameters()).device
    backbone = packable_part(model)
    arrays = (batch.input_ids, batch.attention_mask, batch.token_type_ids)
    if backbone is None:
        tensors = [torch.from_numpy(array).to(device) for array in arrays]
        output = model(**model_inputs(model, *tensors))
        return _TokenLogits(output.start_logits, output.end_logits, None)
    states = training_states(backbone, PackedTokens.of_padded(*arrays)).float()  # (T, H)
    evidence_head = getattr(model, EVIDENCE_HEAD, None)
    with torch.autocast(device.type, enabled=False):
        heads = [model.qa_outputs] if evidence_head is None else [model.qa_outputs, evidence_head]
        of_tokens = torch.cat([head(states) for head in heads], dim=-1)  # (T, 2) or (T, 7)
    logits = of_tokens.new_zeros(*batch.input_ids.shape, of_tokens.shape[-1])
    logits[torch.from_numpy(batch.attention_mask).bool().to(device)] = of_tokens
    evidence = None if evidence_head is None else logits[..., 2:]
    return _TokenLogits(logits[..., 0], logits[..., 1], evidence)


def _supervised_loss(
    logits: _TokenLogits,
    groups: Sequence[Group],
    batch: spans.ModelInput,
    null: int,
    recipe: ReaderTrainingConfig,
) -> Tensor:
    """The losses from the gold answers, without negatives that a teacher prefers to the answering row."""
    chosen = [[row for row in group if not _is_preferred(row, group)] for group in groups]
    rows = [row for group in chosen for row in group]
    is_chosen = ~np.array([_is_preferred(row, group) for group in groups for row in group])
    device = logits.start.device
    indices = torch.from_numpy(np.flatnonzero(is_chosen)).to(device)
    start = logits.start[indices]
    end = logits.end[indices]
    shifts = batch.shift[is_chosen]
    is_passage = torch.from_numpy(batch.passage_mask[is_chosen]).to(device)
    allowed = is_passage.clone()
    allowed[:, null] = True
    first, last = _gold_positions(rows, shifts, null).to(device)
    loss = losses.span_loss(start, end, allowed, first, last)
    if recipe.shared:
        sizes = [len(group) for group in chosen]
        shared = losses.shared_normalization_loss(start, end, is_passage, null, sizes, first, last)
        loss = loss + recipe.shared * shared
    if logits.evidence is None:
        return loss
    support = torch.from_numpy(_support(rows, shifts, batch.passage_mask.shape[1])).to(device)
    labels = torch.tensor([row.labels for row in rows], device=device)  # (B, 3)
    lists = [size for group in chosen for size in ([len(group)] if group[0].answer else [1] * len(group))]
    evidence = logits.evidence[indices].float()
    return loss + losses.evidence_loss(evidence, support, is_passage, labels, null, lists)


def _is_preferred(row: TrainingRow, group: Group) -> bool:
    """True for a row without the answer that a teacher finds more relevant than the answering one."""
    answering = group[0]
    if row is answering or not answering.answer or answering.teacher is None or row.teacher is None:
        return False
    return row.teacher.relevance > answering.teacher.relevance


def _gold_positions(rows: Group, shifts: NDArray[np.int64], null: int) -> Tensor:
    """(2, B) int64: the positions of the first and the last token of each answer, `null` without one."""
    positions = np.full((2, len(rows)), null, dtype=np.int64)
    for number, (row, shift) in enumerate(zip(rows, shifts, strict=True)):
        if row.answer:
            positions[:, number] = shift + np.array(row.answer)
    return torch.from_numpy(positions)


def _support(rows: Group, shifts: NDArray[np.int64], length: int) -> Floats:
    """(B, length): 1 in the sentences of the answer."""
    support = np.zeros((len(rows), length), dtype=np.float32)
    for line, row, shift in zip(support, rows, shifts, strict=True):
        if row.support:
            line[shift + row.support[0] : shift + row.support[1] + 1] = 1
    return support


def _teacher_logits(rows: Group, batch: spans.ModelInput, device: torch.device) -> losses.TeacherLogits:
    """A teacher's logits for the rows of a batch, at the positions of their tokens."""
    shape = batch.passage_mask.shape
    start = np.full(shape, -np.inf, dtype=np.float32)
    end = np.full(shape, -np.inf, dtype=np.float32)
    support = np.full(shape, np.nan, dtype=np.float32)
    null = np.zeros((len(rows), 2), dtype=np.float32)
    relevance = np.zeros(len(rows), dtype=np.float32)
    is_scored = np.zeros(len(rows), dtype=np.bool_)
    for number, (row, shift) in enumerate(zip(rows, batch.shift, strict=True)):
        if row.teacher is not None:
            window = slice(shift, shift + len(row.window))
            start[number, window] = row.teacher.start
            end[number, window] = row.teacher.end
            support[number, window] = row.teacher.support
            null[number] = row.teacher.null
            relevance[number] = row.teacher.relevance
            is_scored[number] = True
    arrays = (is_scored, start, end, null, relevance, support)
    tensors = [torch.from_numpy(array).to(device) for array in arrays]
    return losses.TeacherLogits(*tensors)


def add_evidence_head(model: nn.Module) -> None:
    """Adds a randomly initialised evidence head to a span model; keeps an existing one."""
    if not hasattr(model, EVIDENCE_HEAD):
        config: Any = model.config
        head = nn.Linear(config.hidden_size, len(EVIDENCE_OUTPUTS))
        nn.init.normal_(head.weight, std=getattr(config, "initializer_range", 0.02))
        nn.init.zeros_(head.bias)
        model.add_module(EVIDENCE_HEAD, head)
