"""Distils a cross-encoder into the model that an index stores vectors of.

One transformer reads questions and passages. Behind it a linear layer makes the token vectors of ColBERT, and
one linear layer for each side a vector of the mean of a text's states (DPR). A batch is some questions, each
with a list of passages, the positive one first; S(q, d) is MaxSim or the cosine of the two vectors.

    loss(S, tau) = KL(p(teacher; T), p(S; tau)) + labels * in-batch(S / tau)
    loss         = loss(MaxSim, tau) + dense * loss(cosine, dense_tau)

p(z; T) is the softmax of a list's scores z / T; in-batch is -ln of the softmax over the batch's passages.

Source: Khattab and Zaharia 2020 (MaxSim); Santhanam et al., "ColBERTv2: Effective and Efficient Retrieval via
Lightweight Late Interaction", 2022, section 3.2 (KL to a cross-encoder, in-batch negatives); Hinton et al.,
"Distilling the Knowledge in a Neural Network", 2015, without their factor T^2; Karpukhin et al. 2020 (dense
heads).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the field's name for it)
from numpy.typing import NDArray
from torch import Tensor, nn

from spanwise.types import RankingExample

from ...models.batching import PackedTokens, shuffled_batches, token_budget_batches
from ...models.packed_forward import Backbone
from ...models.packed_training import training_states
from ...models.precision import autocast
from ...models.tokenizer import TokenRow, TokenRows
from ...models.training import Progress, TrainingConfig, freeze, train
from .lists import PAD_MULTIPLE, draw_lists, in_rows, label_loss, length_buckets, mean_length

BATCH_TOKENS = 16384  # of an evaluation
Side = Literal["question", "passage"]


@dataclass(frozen=True, slots=True)
class DistillationConfig:
    """The settings, with those of the loop.

    `negatives` of a list are drawn anew for each epoch. `tau` divides MaxSim, `dense_tau` the cosine,
    `t_teacher` the teacher's scores. `labels` weighs the in-batch loss, `dense` the dense heads.
    """

    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(learning_rate=1e-4, evaluate_at=(0.5, 1.0))
    )
    epochs: int = 1
    negatives: int = 3
    batch_tokens: int = 12288
    max_length: int = 256
    tau: float = 0.25
    dense_tau: float = 0.05
    t_teacher: float = 2.0
    labels: float = 0.5
    dense: float = 0.5


class Student(nn.Module):
    """The transformer and the three linear layers behind it."""

    def __init__(
        self, backbone: nn.Module, projection: nn.Linear, question_head: nn.Linear, passage_head: nn.Linear
    ) -> None:
        super().__init__()
        self.backbone, self.projection = backbone, projection
        self.question_head, self.passage_head = question_head, passage_head

    def forward(self, rows: Sequence[TokenRow], side: Side) -> Encoded:
        """The vectors of texts, given as rows of tokens."""
        device = self.projection.weight.device
        packed = PackedTokens.of([row.ids for row in rows])
        _, mask, kept = (torch.from_numpy(values).to(device) for values in packed.padded(0, PAD_MULTIPLE))
        for of_text, row in zip(kept, rows, strict=True):
            of_text[row.places] = 1
        of_tokens = training_states(self.backbone, packed).float()  # (T, H)
        states = of_tokens.new_zeros(*mask.shape, of_tokens.shape[1])
        states[mask.bool()] = of_tokens
        with torch.autocast(device.type, enabled=False):
            tokens = F.normalize(self.projection(states), dim=-1)
            there = mask.unsqueeze(-1).float()
            pooled = (states * there).sum(dim=1) / there.sum(dim=1)
            head = self.question_head if side == "question" else self.passage_head
            return Encoded(tokens, kept.bool(), F.normalize(head(pooled), dim=-1))


@dataclass(frozen=True, slots=True)
class Encoded:
    """`tokens` (B, L, width) unit vectors, of which `kept` (B, L) are compared, and `dense` (B, H)."""

    tokens: Tensor
    kept: Tensor
    dense: Tensor

    @classmethod
    def joined(cls, parts: Sequence[Encoded], order: NDArray[np.int64]) -> Encoded:
        """The texts of all parts, taken in that order, padded to the longest."""
        longest = max(part.kept.shape[1] for part in parts)
        columns = [
            (
                F.pad(part.tokens, (0, 0, 0, longest - part.kept.shape[1])),
                F.pad(part.kept, (0, longest - part.kept.shape[1])),
                part.dense,
            )
            for part in parts
        ]
        return cls(*(torch.cat(column)[order] for column in zip(*columns, strict=True)))


def max_sim(questions: Encoded, passages: Encoded) -> Tensor:
    """(Q, P): the sum over the question's kept tokens of their best match in the passage's kept tokens."""
    n_questions, length, width = questions.tokens.shape
    flat = questions.tokens.reshape(-1, width)
    similar = torch.einsum("rw,plw->rpl", flat, passages.tokens)  # (Q * L, P, L_p)
    best = similar.masked_fill(~passages.kept, -torch.inf).amax(dim=-1)
    best = best.reshape(n_questions, length, -1)
    return best.masked_fill(~questions.kept.unsqueeze(-1), 0).sum(dim=1)


def softened_kl(student: Tensor, teacher: Tensor, t_teacher: float = 1.0) -> Tensor:
    """KL(teacher || student), the mean over lists; scores (B, n), -inf in both for no passage.

    >>> teacher, student = torch.tensor([[10.2, 3.1, -0.8]]), torch.tensor([[8.7, 2.5, -0.2]])
    >>> round(float(softened_kl(student, teacher)), 6), round(float(softened_kl(student / 4, teacher, 4)), 6)
    (0.000545, 0.009959)
    """
    target = F.log_softmax(teacher.float() / t_teacher, dim=-1)
    ours = F.log_softmax(student.float(), dim=-1)
    terms = target.exp() * (target - ours)
    return terms.masked_fill(~torch.isfinite(target), 0).sum(dim=-1).mean()


def distil(
    model: Student,
    tokens: TokenRows,
    examples: Sequence[RankingExample],
    config: DistillationConfig,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    select_by: str,
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """The evaluations of a run that trains `model` in place; the best weights stay in it.

    ValueError for an example without the teacher's scores.
    """
    if unscored := sum(not one.scores for one in examples):
        raise ValueError(f"{unscored} of {len(examples)} lists have no teacher scores. Run `train mine`")
    freeze(model)
    texts = dict.fromkeys(text for one in examples for text in (one.question, *one.passages))
    rows = dict(zip(texts, tokens.of(list(texts)), strict=True))
    lists = draw_lists(examples, config.epochs, config.negatives, config.loop.seed)
    lengths = [mean_length([len(rows[text]) for text in one.passages]) for one in lists]
    budget = config.batch_tokens // (1 + config.negatives)
    batches = shuffled_batches(lengths, config.epochs, budget, PAD_MULTIPLE, config.loop.seed)

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return distillation_loss(model, [lists[i] for i in batch], rows, config)

    return train(model, batches, loss, config.loop, folder, evaluate, select_by, report)


def distillation_loss(
    model: Any, lists: Sequence[RankingExample], rows: Mapping[str, TokenRow], config: DistillationConfig
) -> Tensor:
    """The loss of a batch, see the module; `rows` are those of all texts.

    A passage of several lists is one column: a second one would compete with the positive that it equals.
    """
    column = {text: i for i, text in enumerate(dict.fromkeys(p for one in lists for p in one.passages))}
    questions = model([rows[one.question] for one in lists], "question")
    passages = _in_buckets(model, [rows[text] for text in column])
    own = [[column[passage] for passage in one.passages] for one in lists]
    positive = torch.tensor([columns[0] for columns in own], device=questions.dense.device)
    teacher = in_rows([torch.tensor(one.scores) for one in lists]).to(questions.dense.device)

    def of(scores: Tensor, tau: float) -> Tensor:
        scores = scores / tau
        student = in_rows([row[columns] for row, columns in zip(scores, own, strict=True)])
        kl = softened_kl(student, teacher, config.t_teacher)
        return kl + config.labels * label_loss(scores, positive)

    total = of(max_sim(questions, passages), config.tau)
    if config.dense:
        total = total + config.dense * of(questions.dense @ passages.dense.T, config.dense_tau)
    return total


@torch.inference_mode()
def student_scores(
    model: Student, rows: TokenRows, examples: Sequence[RankingExample]
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """For each example the MaxSim of its question with each passage, and the cosines of the dense vectors."""
    questions = _encoded(model, rows, [one.question for one in examples], "question")
    passages = _encoded(model, rows, [text for one in examples for text in one.passages], "passage")
    tokens, dense = [], []
    for one in examples:
        question, found = questions[one.question], [passages[text] for text in one.passages]
        tokens.append(np.array([float(max_sim(question, passage)) for passage in found], np.float32))
        dense.append(
            np.array([float((question.dense * passage.dense).sum()) for passage in found], np.float32)
        )
    return tokens, dense


def untrained_projection(backbone: nn.Module, rows: Sequence[TokenRow], width: int, seed: int) -> nn.Linear:
    """A token layer to start from, y = W (x - mean): W random with orthonormal rows, the mean that of `rows`.

    The states of a language model share a large component, which would make all cosines high; a random
    projection preserves the cosines of what is left (Johnson and Lindenstrauss 1984).
    """
    mean = mean_state(backbone, rows)
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.standard_normal((len(mean), width)))
    weight = (q * np.sign(np.diag(r))).T  # (width, H); the signs make the decomposition unique
    layer = nn.Linear(len(mean), width)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight))
        layer.bias.copy_(torch.from_numpy(-weight @ mean))
    return layer


def identity_head(n_in: int) -> nn.Linear:
    """A dense head to start from: it keeps the mean of the states."""
    head = nn.Linear(n_in, n_in)
    nn.init.eye_(head.weight)
    nn.init.zeros_(head.bias)
    return head


def mean_state(backbone: nn.Module, rows: Sequence[TokenRow]) -> NDArray[np.float64]:
    """(H,): the mean of the states of all tokens that give vectors."""
    if not rows:
        raise ValueError("there are no passages to average the states of")
    runner = Backbone(backbone)
    total, n_tokens = np.zeros(backbone.config.hidden_size), 0  # type: ignore[union-attr, arg-type]
    for batch in token_budget_batches([len(row) for row in rows], BATCH_TOKENS // 2):
        of = [rows[i] for i in batch]
        tokens = PackedTokens.of([row.ids for row in of])
        kept = np.concatenate(
            [at + np.array(row.places) for at, row in zip(tokens.starts(), of, strict=True)]
        )
        states = runner.states(tokens)[torch.from_numpy(kept)].float()
        total += states.sum(dim=0, dtype=torch.float64).numpy()
        n_tokens += len(kept)
    mean: NDArray[np.float64] = total / n_tokens
    return mean


def _encoded(model: Student, rows_of: TokenRows, texts: Sequence[str], side: Side) -> dict[str, Encoded]:
    """The vectors of each distinct text, without padding."""
    distinct = list(dict.fromkeys(texts))
    rows, found = rows_of.of(distinct), {}
    for batch in token_budget_batches([len(row) for row in rows], BATCH_TOKENS, PAD_MULTIPLE):
        with autocast(model.projection.weight.device):
            encoded = model([rows[i] for i in batch], side)
        tokens, kept, dense = encoded.tokens.cpu(), encoded.kept.cpu(), encoded.dense.cpu()
        for at, i in enumerate(batch):
            mine = kept[at]
            found[distinct[i]] = Encoded(
                tokens[at : at + 1, mine], kept[at : at + 1, mine], dense[at : at + 1]
            )
    return found


def _in_buckets(model: Any, passages: Sequence[TokenRow]) -> Encoded:
    buckets = length_buckets([len(row) for row in passages])
    parts = [model([passages[i] for i in bucket], "passage") for bucket in buckets]
    return Encoded.joined(parts, np.argsort(np.concatenate(buckets)))
