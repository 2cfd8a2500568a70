"""Fine-tuning of the span reader: groups of passages, one window a passage, batches by tokens.

A group is a question with a passage that answers it and hard negatives, which do not; or with one passage. A
model without the evidence head has the loss of spans alone, see `losses`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..models.batching import PackedTokens, shuffled_batches
from ..models.numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS
from ..models.packed_forward import model_inputs, packable_part, sequence_means
from ..models.packed_training import training_states
from ..models.tokenizer import SpecialTokens, special_tokens
from ..models.training import Progress, TrainingConfig, freeze, train
from .labels import LabelStore, PairLabel
from .losses import (
    TeacherScores,
    distillation_loss,
    evidence_loss,
    shared_span_loss,
    similarity_loss,
    span_loss,
)
from .spans import MAX_CONTEXT_TOKENS, MAX_QUESTION_TOKENS, ModelInput, Row, Tokens, assemble, tokenize

PAD_MULTIPLE = 32
Split = Callable[[str], Sequence[tuple[int, int]]]
Labels = tuple[float, float, float]
"""1 or 0 for the outputs yes_no, yes and several; -1 where it is not known."""
UNKNOWN: Labels = (-1.0, -1.0, -1.0)


@dataclass(frozen=True, slots=True)
class ReaderExample:
    """A question on a passage; the answer is `passage[start:end]`, or start is None for no answer.

    `group` names the article, so that other passages of the same article can stand in for it. `context` is
    the text of the headings above the passage. `negatives` are pairs of context and passage that do not
    answer the question.
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
        """The words of the answer, or the empty string."""
        return "" if self.start is None else self.passage[self.start : self.end]

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Context and passage of every row of the group, the example's own first."""
        return ((self.context, self.passage), *self.negatives)


@dataclass(frozen=True, slots=True)
class ReaderTrainingConfig:
    """The settings of a reader's training; `loop` has those of the training loop.

    `batch_tokens` is the padded size of a batch of groups of average size, `max_length` the length of an
    input; a longer passage is cut to a random window around its answer. `epochs` passes over the data are
    made, shuffled by the seed, or about `tokens` are trained on, if that is less. Nothing is dropped out.

    `negatives` is the number of passages of a group that do not answer; 0 for one to three. The lowest
    `frozen_layers` are not trained. `shared` and `similarity` weigh the losses over all passages of a group,
    and of the mean states of question and passage. Groups that a teacher scored have the share `distilled` of
    its loss, softened by `temperature`, and the rest of all others.
    """

    loop: TrainingConfig = field(default_factory=TrainingConfig)
    epochs: int = 1
    batch_tokens: int = 6144
    max_length: int = 320
    tokens: int | None = None
    negatives: int = 0
    frozen_layers: int = 0
    shared: float = 0.0
    similarity: float = 0.0
    distilled: float = 0.75
    temperature: float = 2.0


FOLDER_LOOP = TrainingConfig(learning_rate=1.2e-4, layer_decay=0.85, evaluate_at=(1.0,))
LISTS_LOOP = TrainingConfig(learning_rate=3e-4, layer_decay=0.9, evaluate_at=(1.0,), checkpoint_every=100)
RECIPES: Mapping[str, ReaderTrainingConfig] = {
    "squad": ReaderTrainingConfig(),
    "folder": ReaderTrainingConfig(FOLDER_LOOP, batch_tokens=8192, max_length=352),
    "lists": ReaderTrainingConfig(LISTS_LOOP, batch_tokens=8192, max_length=352, negatives=3, shared=1.0),
}


@dataclass(frozen=True, slots=True, eq=False)
class TaughtRow:
    """A teacher's logits for a window: start, end and support of its tokens, (n,) float32 each.

    A start or an end that its label lacks is -inf, and the support of a token outside of all sentences NaN.
    `none` are start and end of no answer.
    """

    start: NDArray[np.float32]
    end: NDArray[np.float32]
    support: NDArray[np.float32]
    none: tuple[float, float]
    relevance: float

    @classmethod
    def of(
        cls, label: PairLabel, tokens: Tokens, sentences: Sequence[tuple[int, int]], window: slice
    ) -> Self:
        """The part of a label for a window of the tokens of a passage with these sentences."""
        start, end, support = (
            np.full(len(tokens.ids), fill, np.float32) for fill in (-np.inf, -np.inf, np.nan)
        )
        start[label.start_positions] = label.start_logits
        end[label.end_positions] = label.end_logits
        for sentence, value in zip(sentences, label.support, strict=True):
            first, after = np.searchsorted(tokens.offsets[:, 0], sentence)
            support[first:after] = value
        none = label.null_start, label.null_end
        return cls(start[window], end[window], support[window], none, label.relevance)


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """The ids of a question, of the context and of a window of the passage.

    `answer` and `support` are the first and the last token in the window of the answer and of its
    sentences; None for a passage without the answer. `taught` has a teacher's scores. The window begins with
    the token `first` of the passage.
    """

    question: NDArray[np.int32]
    context: NDArray[np.int32]
    window: NDArray[np.int32]
    answer: tuple[int, int] | None = None
    support: tuple[int, int] | None = None
    labels: Labels = UNKNOWN
    taught: TaughtRow | None = None
    first: int = 0

    @property
    def ids(self) -> Row:
        """What the model reads."""
        return self.question, self.context, self.window


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
    """The evaluations of a run that trains `model` in place; the best weights stay in it.

    Word embeddings are frozen. `labels` are a teacher's scores of pairs. With `evidence` the model gets the
    evidence head; `split` gives the sentences of a text for it. `folder` and `select_by` as for
    `models.training.train`.
    """
    if evidence:
        add_evidence_head(model)
    special = special_tokens(tokenizer)
    groups = training_groups(examples, tokenizer, special.count, recipe, split, labels)
    return train_groups(model, groups, special, recipe, folder, evaluate, report, select_by)


def train_groups(
    model: nn.Module,
    groups: Sequence[Sequence[TrainingRow]],
    special: SpecialTokens,
    recipe: ReaderTrainingConfig,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    report: Callable[[Progress], None] = lambda progress: None,
    select_by: str = "step",
) -> list[dict[str, float]]:
    """`fine_tune` with the rows of all groups, once an epoch; the evidence head is there if it is wanted."""
    freeze(model, recipe.frozen_layers)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return batch_loss(model, [groups[i] for i in batch], special, recipe)

    widths = [special.count + max(sum(map(len, row.ids)) for row in group) for group in groups]
    budget = recipe.batch_tokens * len(groups) // max(1, sum(map(len, groups)))
    batches = shuffled_batches(widths, recipe.epochs, budget, PAD_MULTIPLE, recipe.loop.seed)
    if recipe.tokens is not None:
        sizes = [
            special.count * len(group) + sum(len(ids) for row in group for ids in row.ids) for group in groups
        ]
        trained_on = np.cumsum([sum(sizes[i] for i in batch) for batch in batches])
        batches = batches[: 1 + int(np.searchsorted(trained_on, recipe.tokens))]
    return train(model, batches, loss, recipe.loop, folder, evaluate, select_by, report)


def training_groups(
    examples: Sequence[ReaderExample],
    tokenizer: Any,
    n_special: int,
    recipe: ReaderTrainingConfig,
    split: Split = lambda text: (),
    labels: LabelStore | None = None,
) -> list[list[TrainingRow]]:
    """The rows of every example, once an epoch, in the order of the examples; windows are drawn by the seed.

    ValueError where `max_length` leaves no room for a passage.
    """
    questions = _tokens_of({e.question for e in examples}, tokenizer, MAX_QUESTION_TOKENS)
    contexts = _tokens_of(
        {context for e in examples for context, _ in e.texts}, tokenizer, MAX_CONTEXT_TOKENS
    )
    passages = _tokens_of({passage for e in examples for _, passage in e.texts}, tokenizer)
    sentences = {e.passage: split(e.passage) for e in examples if e.start is not None}
    rng = random.Random(recipe.loop.seed)

    def taught(example: ReaderExample, number: int, window: slice) -> TaughtRow | None:
        context, passage = example.texts[number]
        label = labels.get(example.question, context, passage) if labels else None
        if label is None or label.n_tokens != len(passages[passage].ids) or math.isnan(label.relevance):
            return None
        return TaughtRow.of(label, passages[passage], split(passage), window)

    def row(example: ReaderExample, number: int) -> TrainingRow:
        context, passage = example.texts[number]
        before = questions[example.question].ids, contexts[context].ids
        room = recipe.max_length - n_special - sum(map(len, before))
        if room < 1:
            raise ValueError(f"max_length is {recipe.max_length}, which leaves no room for a passage")
        tokens = passages[passage]
        if number or example.start is None or example.end is None:
            at = rng.randint(0, max(0, len(tokens.ids) - room))
            window = slice(at, at + room)
            return TrainingRow(*before, tokens.ids[window], taught=taught(example, number, window), first=at)
        own = _answering(before, tokens, sentences[passage], example, room, rng)
        return replace(own, taught=taught(example, number, slice(own.first, own.first + room)))

    return [[row(e, i) for i in range(len(e.texts))] for _ in range(recipe.epochs) for e in examples]


def token_labels(offsets: NDArray[np.int32], start: int, end: int) -> tuple[int, int]:
    """The first and last token that overlap the characters [start, end); offsets are (n, 2).

    A start inside a word moves to the piece that holds it. ValueError for a span without a token.
    """
    inside = np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))
    if not len(inside):
        raise ValueError(f"no token covers the characters [{start}, {end})")
    return int(inside[0]), int(inside[-1])


def batch_loss(
    model: nn.Module,
    groups: Sequence[Sequence[TrainingRow]],
    special: SpecialTokens,
    recipe: ReaderTrainingConfig,
) -> Tensor:
    """The sum of the losses of a batch; see `losses`."""
    rows = [row for group in groups for row in group]
    batch = assemble([row.ids for row in rows], special, PAD_MULTIPLE)
    start, end, evidence = _token_logits(model, batch)
    loss = _label_loss(start, end, evidence, groups, batch, special.null, recipe)
    if recipe.similarity:
        answering = [group[0] for group in groups if group[0].answer]
        loss = loss + recipe.similarity * _similarity(model, answering, special)
    n_taught = sum(any(row.taught for row in group) for group in groups)
    if evidence is None or not n_taught:
        return loss
    is_passage = torch.from_numpy(batch.passage_mask).to(start.device)
    sizes = [len(group) for group in groups]
    teacher = _teacher_scores(rows, batch, start.device)
    taught = distillation_loss(
        start, end, evidence, teacher, is_passage, special.null, sizes, recipe.temperature
    )
    share = recipe.distilled * n_taught / len(groups)
    total: Tensor = (1 - share) * loss + share * taught
    return total


def _label_loss(
    start: Tensor,
    end: Tensor,
    evidence: Tensor | None,
    groups: Sequence[Sequence[TrainingRow]],
    batch: ModelInput,
    null: int,
    recipe: ReaderTrainingConfig,
) -> Tensor:
    """The losses by the written answers, without rows that a teacher prefers to the right one."""
    is_preferred = [[_is_preferred(row, group) for row in group] for group in groups]
    kept = [
        [row for row, preferred in zip(group, marks, strict=True) if not preferred]
        for group, marks in zip(groups, is_preferred, strict=True)
    ]
    rows = [row for group in kept for row in group]
    is_kept = ~np.concatenate(is_preferred)
    device = start.device
    chosen = torch.from_numpy(np.flatnonzero(is_kept)).to(device)
    start, end = start[chosen], end[chosen]
    shifts = batch.shift[is_kept]
    is_passage = torch.from_numpy(batch.passage_mask[is_kept]).to(device)
    allowed = is_passage.clone()
    allowed[:, null] = True
    first, last = _gold_places(rows, shifts, null).to(device)
    loss = span_loss(start, end, allowed, first, last)
    if recipe.shared:
        sizes = [len(group) for group in kept]
        loss = loss + recipe.shared * shared_span_loss(start, end, is_passage, null, sizes, first, last)
    if evidence is None:
        return loss
    support = torch.from_numpy(_support(rows, shifts, batch.passage_mask.shape[1])).to(device)
    labels = torch.tensor([row.labels for row in rows], device=device)  # (B, 3)
    lists = [size for group in kept for size in ([len(group)] if group[0].answer else [1] * len(group))]
    return loss + evidence_loss(evidence[chosen].float(), support, is_passage, labels, null, lists)


def _is_preferred(row: TrainingRow, group: Sequence[TrainingRow]) -> bool:
    """True for a row without the answer that a teacher finds more relevant than the one that has it."""
    own = group[0]
    if row is own or not own.answer or own.taught is None or row.taught is None:
        return False
    return row.taught.relevance > own.taught.relevance


def _gold_places(rows: Sequence[TrainingRow], shifts: NDArray[np.int64], null: int) -> Tensor:
    """(2, B) int64: the positions of the first and the last token of each answer, `null` without one."""
    places = np.full((2, len(rows)), null, dtype=np.int64)
    for at, (row, shift) in enumerate(zip(rows, shifts, strict=True)):
        if row.answer:
            places[:, at] = shift + np.array(row.answer)
    return torch.from_numpy(places)


def _support(rows: Sequence[TrainingRow], shifts: NDArray[np.int64], length: int) -> NDArray[np.float32]:
    """(B, length): 1 in the sentences of the answer."""
    support = np.zeros((len(rows), length), dtype=np.float32)
    for line, row, shift in zip(support, rows, shifts, strict=True):
        if row.support:
            line[shift + row.support[0] : shift + row.support[1] + 1] = 1
    return support


def _teacher_scores(rows: Sequence[TrainingRow], batch: ModelInput, device: torch.device) -> TeacherScores:
    """What a teacher gave for the rows of a batch."""
    shape = batch.passage_mask.shape
    start, end = (np.full(shape, -np.inf, dtype=np.float32) for _ in range(2))
    support = np.full(shape, np.nan, dtype=np.float32)
    none = np.zeros((len(rows), 2), dtype=np.float32)
    relevance = np.zeros(len(rows), dtype=np.float32)
    for at, (row, shift) in enumerate(zip(rows, batch.shift, strict=True)):
        if row.taught is not None:
            here = slice(shift, shift + len(row.window))
            start[at, here] = row.taught.start
            end[at, here] = row.taught.end
            support[at, here] = row.taught.support
            none[at] = row.taught.none
            relevance[at] = row.taught.relevance
    known = np.array([row.taught is not None for row in rows])
    arrays = (known, start, end, none, relevance, support)
    return TeacherScores(*(torch.from_numpy(array).to(device) for array in arrays))


def _similarity(model: Any, rows: Sequence[TrainingRow], special: SpecialTokens) -> Tensor:
    """The loss of questions and passages read apart; 0 for fewer than two, and without a backbone."""
    backbone = packable_part(model)
    if backbone is None or len(rows) < 2:
        return torch.zeros((), device=next(model.parameters()).device)

    def means(texts: Sequence[Sequence[NDArray[np.int32]]]) -> Tensor:
        tokens = PackedTokens.of(
            [[*special.before, *np.concatenate(text).tolist(), *special.after] for text in texts]
        )
        return sequence_means(training_states(backbone, tokens), tokens.lengths)

    return similarity_loss(means([(row.question,) for row in rows]), means([row.ids[1:] for row in rows]))


def add_evidence_head(model: nn.Module) -> None:
    """Gives a span model the evidence head, drawn from torch's generator; keeps one that it has."""
    if not hasattr(model, EVIDENCE_HEAD):
        config: Any = model.config
        head = nn.Linear(config.hidden_size, len(EVIDENCE_OUTPUTS))
        nn.init.normal_(head.weight, std=getattr(config, "initializer_range", 0.02))
        nn.init.zeros_(head.bias)
        model.add_module(EVIDENCE_HEAD, head)


def _token_logits(model: Any, batch: ModelInput) -> tuple[Tensor, Tensor, Tensor | None]:
    """The start and end logits, (B, L) each, and those of the evidence (B, L, 5), None without the head."""
    device, values = next(model.parameters()).device, (batch.input_ids, batch.attention_mask)
    backbone, head = packable_part(model), getattr(model, EVIDENCE_HEAD, None)
    if backbone is None:
        put = [torch.from_numpy(one).to(device) for one in (*values, batch.token_type_ids)]
        output = model(**model_inputs(model, *put))
        return output.start_logits, output.end_logits, None
    states = training_states(backbone, PackedTokens.of_padded(*values, batch.token_type_ids)).float()
    with torch.autocast(device.type, enabled=False):
        heads = [model.qa_outputs] if head is None else [model.qa_outputs, head]
        found = torch.cat([one(states) for one in heads], dim=-1)  # (T, 2) or (T, 7)
    logits = found.new_zeros(*batch.input_ids.shape, found.shape[-1])
    logits[torch.from_numpy(batch.attention_mask).bool().to(device)] = found
    return logits[..., 0], logits[..., 1], None if head is None else logits[..., 2:]


def _tokens_of(texts: set[str], tokenizer: Any, most: int | None = None) -> dict[str, Tokens]:
    ordered = sorted(texts)
    found = (Tokens(one.ids[:most], one.offsets[:most]) for one in tokenize(tokenizer, ordered))
    return dict(zip(ordered, found, strict=True))


def _answering(
    before: tuple[NDArray[np.int32], NDArray[np.int32]],
    passage: Tokens,
    sentences: Sequence[tuple[int, int]],
    example: ReaderExample,
    room: int,
    rng: random.Random,
) -> TrainingRow:
    """The row of the passage that answers: a window of at most `room` tokens that holds the answer."""
    start, end = int(example.start or 0), int(example.end or 0)
    touched = [(start, end), *((s, e) for s, e in sentences if s < end and e > start)]
    first, last = token_labels(passage.offsets, start, end)
    left, right = token_labels(passage.offsets, min(s for s, _ in touched), max(e for _, e in touched))
    last = min(last, first + room - 1)
    at = rng.randint(max(0, last - room + 1), min(first, max(0, len(passage.ids) - room)))
    window = passage.ids[at : at + room]
    support = max(0, left - at), min(right - at, len(window) - 1)
    return TrainingRow(*before, window, (first - at, last - at), support, example.labels, first=at)
