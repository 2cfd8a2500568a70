"""Fine-tuning of the span reader: groups of passages, one window a passage, batches by tokens, the loss.

A group is a question with a passage that answers it and hard negatives, which do not; or with one passage.

    loss = -ln P(first) - ln P(last)                 every passage; those without the answer point at [CLS]
           + BCE(support of each token)              1 in the sentences of the answer
           + BCE(passage) - ln P(passage in group)   1 for the passage that answers
           + 0.9 BCE(yes_no, yes, several)           means over the sentences of the answer

The softmax of first and last token runs over the passage and [CLS]. The logits of the other lines are those
of `models.bert.EVIDENCE_OUTPUTS`; a model without that head has the first line only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..models.batching import PackedTokens, shuffled_batches
from ..models.numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS
from ..models.packed import model_inputs, packable_part
from ..models.packed_training import training_states
from ..models.tokenizer import SpecialTokens, special_tokens
from ..models.training import Progress, TrainingConfig, freeze_word_embeddings, train
from .spans import MAX_CONTEXT_TOKENS, MAX_QUESTION_TOKENS, ModelInput, Row, Tokens, assemble, tokenize

if TYPE_CHECKING:
    from torch import Tensor, nn

PAD_MULTIPLE = 32
LABEL_WEIGHT = 0.9
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
    made, shuffled by the seed. Nothing is dropped out.
    """

    loop: TrainingConfig = field(default_factory=TrainingConfig)
    epochs: int = 1
    batch_tokens: int = 6144
    max_length: int = 320


FOLDER_LOOP = TrainingConfig(learning_rate=1.2e-4, layer_decay=0.85, evaluate_at=(1.0,))
RECIPES: Mapping[str, ReaderTrainingConfig] = {
    "squad": ReaderTrainingConfig(),
    "folder": ReaderTrainingConfig(FOLDER_LOOP, batch_tokens=8192, max_length=352),
}


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """The ids of a question, of the context and of a window of the passage.

    `answer` and `support` are the first and the last token in the window of the answer and of its
    sentences; None for a passage without the answer.
    """

    question: NDArray[np.int32]
    context: NDArray[np.int32]
    window: NDArray[np.int32]
    answer: tuple[int, int] | None = None
    support: tuple[int, int] | None = None
    labels: Labels = UNKNOWN

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
) -> list[dict[str, float]]:
    """The evaluations of a run that trains `model` in place; the best weights stay in it.

    Word embeddings are frozen. With `evidence` the model gets the evidence head; `split` gives the sentences
    of a text for it. `folder` and `select_by` as for `models.training.train`.
    """
    if evidence:
        add_evidence_head(model)
    freeze_word_embeddings(model)
    special = special_tokens(tokenizer)
    groups = training_groups(examples, tokenizer, special.count, recipe, split)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return batch_loss(model, [groups[i] for i in batch], special)

    widths = [special.count + max(sum(map(len, row.ids)) for row in group) for group in groups]
    budget = recipe.batch_tokens * len(groups) // max(1, sum(map(len, groups)))
    batches = shuffled_batches(widths, recipe.epochs, budget, PAD_MULTIPLE, recipe.loop.seed)
    return train(model, batches, loss, recipe.loop, folder, evaluate, select_by, report)


def training_groups(
    examples: Sequence[ReaderExample],
    tokenizer: Any,
    n_special: int,
    recipe: ReaderTrainingConfig,
    split: Split = lambda text: (),
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

    def row(example: ReaderExample, number: int) -> TrainingRow:
        context, passage = example.texts[number]
        before = questions[example.question].ids, contexts[context].ids
        room = recipe.max_length - n_special - sum(map(len, before))
        if room < 1:
            raise ValueError(f"max_length is {recipe.max_length}, which leaves no room for a passage")
        tokens = passages[passage]
        if number or example.start is None or example.end is None:
            at = rng.randint(0, max(0, len(tokens.ids) - room))
            return TrainingRow(*before, tokens.ids[at : at + room])
        return _answering(before, tokens, sentences[passage], example, room, rng)

    return [[row(e, i) for i in range(len(e.texts))] for _ in range(recipe.epochs) for e in examples]


def token_labels(offsets: NDArray[np.int32], start: int, end: int) -> tuple[int, int]:
    """The first and last token that overlap the characters [start, end); offsets are (n, 2).

    A start inside a word moves to the piece that holds it. ValueError for a span without a token.
    """
    inside = np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))
    if not len(inside):
        raise ValueError(f"no token covers the characters [{start}, {end})")
    return int(inside[0]), int(inside[-1])


def batch_loss(model: nn.Module, groups: Sequence[Sequence[TrainingRow]], special: SpecialTokens) -> Tensor:
    """The span loss of a batch, and the losses of the evidence where the model has that head."""
    import torch

    rows = [row for group in groups for row in group]
    batch = assemble([row.ids for row in rows], special, PAD_MULTIPLE)
    allowed = batch.passage_mask.copy()
    allowed[:, special.null] = True
    null = (special.null, special.null)
    at = [
        (s + r.answer[0], s + r.answer[1]) if r.answer else null
        for r, s in zip(rows, batch.shift, strict=True)
    ]
    device = next(model.parameters()).device

    def put(values: Any) -> Tensor:
        return torch.as_tensor(np.asarray(values)).to(device)

    start, end, evidence = _token_logits(model, batch)
    first, last = put(at).unbind(-1)
    loss = span_loss(start, end, put(allowed), first, last)
    if evidence is None:
        return loss
    lists = ([len(group)] if group[0].answer else [1] * len(group) for group in groups)
    return loss + evidence_loss(
        evidence.float(), rows, batch, special.null, [n for some in lists for n in some]
    )


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


def evidence_loss(
    evidence: Tensor, rows: Sequence[TrainingRow], batch: ModelInput, null: int, sizes: Sequence[int]
) -> Tensor:
    """The sum of the losses of the evidence head; see the head of this file.

    `evidence`: (B, L, 5) float32 logits in the order of EVIDENCE_OUTPUTS, of the rows of `batch`, group after
    group. `null`: the position of [CLS]. `sizes`: the rows of each list, the answering one first. A label of
    -1 counts nothing.
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits as bce

    gold = np.zeros(batch.passage_mask.shape, dtype=np.float32)  # (B, L)
    for line, row, shift in zip(gold, rows, batch.shift, strict=True):
        if row.support:
            line[shift + row.support[0] : shift + row.support[1] + 1] = 1
    device = evidence.device
    wanted, is_passage = (torch.from_numpy(one).to(device) for one in (gold, batch.passage_mask))
    passage, answers = evidence[:, null, 1], wanted.amax(dim=1)  # (B,)
    loss = bce(evidence[..., 0][is_passage], wanted[is_passage]) + bce(passage, answers)
    loss = loss + listwise_loss(passage, sizes)
    labels = torch.tensor([row.labels for row in rows], device=device)  # (B, 3)
    means = (wanted[..., None] * evidence[..., 2:]).sum(dim=1) / wanted.sum(dim=1).clamp_min(1)[:, None]
    if bool((known := labels >= 0).any()):
        loss = loss + LABEL_WEIGHT * bce(means[known], labels[known])
    return loss


def listwise_loss(logits: Tensor, sizes: Sequence[int]) -> Tensor:
    """The mean over groups of several rows of -ln P(first row), 0 where there is none.

    `logits`: (B,), group after group; the softmax runs over the rows of a group. `sizes`: their rows.
    Source: Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", 2007, section 4.

    >>> import torch
    >>> round(float(listwise_loss(torch.tensor([2.0, 0.0, 1.0, 5.0]), [3, 1])), 5)
    0.40761
    """
    import torch

    lists = [-one.log_softmax(dim=0)[0] for one in logits.split(list(sizes)) if len(one) > 1]
    return torch.stack(lists).mean() if lists else logits.new_zeros(())


def add_evidence_head(model: nn.Module) -> None:
    """Gives a span model the evidence head, drawn from torch's generator; keeps one that it has."""
    from torch import nn

    if not hasattr(model, EVIDENCE_HEAD):
        config: Any = model.config
        head = nn.Linear(config.hidden_size, len(EVIDENCE_OUTPUTS))
        nn.init.normal_(head.weight, std=getattr(config, "initializer_range", 0.02))
        nn.init.zeros_(head.bias)
        model.add_module(EVIDENCE_HEAD, head)


def _token_logits(model: Any, batch: ModelInput) -> tuple[Tensor, Tensor, Tensor | None]:
    """The start and end logits, (B, L) each, and those of the evidence (B, L, 5), None without the head."""
    import torch

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
    return TrainingRow(*before, window, (first - at, last - at), support, example.labels)
