"""Trains the student, which an index can hold the vectors of, by what a cross-encoder says.

One transformer reads questions and passages. Behind it a linear layer makes the token vectors of ColBERT, and
a linear layer for each side one vector of the mean of a text's states (DPR). A batch is some questions, each
with a list of passages, the positive one first; S(q, d) is MaxSim or the cosine of the two vectors.

    tokens   distil(S / tau of a list, teacher's scores of it) + labels * in-batch(S / tau)
    dense    the same, for cosines, with a tau of their own

`distil` is KL, MarginMSE, or nothing; in-batch is -ln of the softmax over the passages of the whole batch.

Source: Khattab and Zaharia 2020 (MaxSim); Santhanam et al., "ColBERTv2: Effective and Efficient Retrieval via
Lightweight Late Interaction", 2022, section 3.2 (KL to a cross-encoder, in-batch negatives); Karpukhin et al.
2020 (dense heads).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spanwise.types import RankingExample

from ...models.token_encoder import TokenRow, TokenRows
from ...models.training import Progress, TrainingConfig, freeze_word_embeddings, set_dropout, train
from .groups import PAD_MULTIPLE, Group, drawn_groups, length_buckets, mean_length, plan_groups
from .losses import label_loss, margin_mse, softened_kl

Distil = Literal["kl", "margin-mse", "none"]


@dataclass(frozen=True, slots=True)
class StudentRecipe:
    """The settings beside those of the loop.

    `negatives` of a list are drawn anew for each epoch. `tau` divides MaxSim, which sums over the tokens of a
    question, `dense_tau` the cosine; `t_teacher` softens the teacher. `labels` weighs the in-batch loss,
    `dense` both losses of the dense heads. The embeddings and the first `frozen_layers` layers stay as they
    are when that is above 0.
    """

    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(learning_rate=1e-4, evaluate_at=(0.5, 1.0))
    )
    epochs: int = 1
    negatives: int = 3
    batch_tokens: int = 12288
    max_length: int = 256
    distil: Distil = "kl"
    tau: float = 0.25
    dense_tau: float = 0.05
    t_teacher: float = 2.0
    labels: float = 0.5
    dense: float = 0.5
    frozen_layers: int = 0
    dropout: float = 0.0


class Student(nn.Module):
    """The transformer and the three linear layers behind it."""

    def __init__(
        self, trunk: nn.Module, projection: nn.Linear, question_head: nn.Linear, passage_head: nn.Linear
    ) -> None:
        super().__init__()
        self.trunk, self.projection = trunk, projection
        self.question_head, self.passage_head = question_head, passage_head

    def forward(self, rows: Sequence[TokenRow], side: Literal["question", "passage"]) -> Encoded:
        """The vectors of texts, given as rows of tokens."""
        device = self.projection.weight.device
        ids, mask, kept = (torch.from_numpy(values).to(device) for values in _padded(rows))
        states = self.trunk(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        with torch.autocast(device.type, enabled=False):
            tokens = nn.functional.normalize(self.projection(states), dim=-1)
            there = mask.unsqueeze(-1).float()
            pooled = (states * there).sum(dim=1) / there.sum(dim=1)
            head = self.question_head if side == "question" else self.passage_head
            return Encoded(tokens, kept.bool(), nn.functional.normalize(head(pooled), dim=-1))


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
        columns: list[tuple[Tensor, ...]] = []
        for part in parts:
            wide = longest - part.kept.shape[1]
            tokens, kept = (
                nn.functional.pad(part.tokens, (0, 0, 0, wide)),
                nn.functional.pad(part.kept, (0, wide)),
            )
            columns.append((tokens, kept, part.dense))
        return cls(*(torch.cat(column)[order] for column in zip(*columns, strict=True)))


def max_sim(questions: Encoded, passages: Encoded) -> Tensor:
    """(Q, P): for each question and passage the sum over the question's kept tokens of their best match.

    What is padding, or skipped, takes part on neither side.
    """
    n_questions, length, width = questions.tokens.shape
    flat = questions.tokens.reshape(-1, width)
    similar = torch.einsum("rw,plw->rpl", flat, passages.tokens)  # (Q * L, P, L_p)
    best = similar.masked_fill(~passages.kept, -torch.inf).amax(dim=-1)
    best = best.reshape(n_questions, length, -1)
    return best.masked_fill(~questions.kept.unsqueeze(-1), 0).sum(dim=1)


def fine_tune_student(
    model: Student,
    sides: tuple[TokenRows, TokenRows],
    examples: Sequence[RankingExample],
    recipe: StudentRecipe,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    select_by: str,
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains `model` in place as `models.training.train` does; `sides` make rows of questions and passages.

    ValueError when a teacher is to be followed and an example has no scores.
    """
    if recipe.distil != "none" and any(not one.scores for one in examples):
        raise ValueError(f"distil is {recipe.distil}, and some lists have no teacher's scores")
    freeze_word_embeddings(model)
    freeze_layers(model, recipe.frozen_layers)
    set_dropout(model, recipe.dropout)
    texts = _Texts.of(examples, sides)
    groups = drawn_groups(examples, recipe.epochs, recipe.negatives, recipe.loop.seed)
    batches = plan_groups(
        groups,
        [mean_length([len(texts.passages[text]) for text in group.passages]) for group in groups],
        recipe.epochs,
        recipe.batch_tokens // (1 + recipe.negatives),
        recipe.loop.seed,
    )

    def loss(model: nn.Module, batch: NDArray[np.int64]) -> Tensor:
        return student_loss(model, [groups[i] for i in batch], texts, recipe)

    return train(model, batches, loss, recipe.loop, folder, evaluate, select_by, report)


def student_loss(model: Any, groups: Sequence[Group], texts: _Texts, recipe: StudentRecipe) -> Tensor:
    """The loss of a batch, see the module.

    A passage of several lists is one column: as another's negative it would compete with itself.
    """
    column = {text: i for i, text in enumerate(dict.fromkeys(p for group in groups for p in group.passages))}
    questions = model([texts.questions[group.question] for group in groups], "question")
    passages = _in_buckets(model, [texts.passages[text] for text in column])
    own = [[column[passage] for passage in group.passages] for group in groups]
    positive = torch.tensor([columns[0] for columns in own], device=questions.dense.device)
    teacher = _lists([torch.tensor(group.scores) for group in groups]).to(questions.dense.device)

    def of(scores: Tensor, tau: float) -> Tensor:
        scores = scores / tau
        lists = _lists([row[columns] for row, columns in zip(scores, own, strict=True)])
        return _distil(lists, teacher, recipe) + recipe.labels * label_loss(scores, positive)

    total = of(max_sim(questions, passages), recipe.tau)
    if recipe.dense:
        total = total + recipe.dense * of(questions.dense @ passages.dense.T, recipe.dense_tau)
    return total


def _in_buckets(model: Any, passages: Sequence[TokenRow]) -> Encoded:
    buckets = length_buckets([len(row) for row in passages])
    parts = [model([passages[i] for i in bucket], "passage") for bucket in buckets]
    return Encoded.joined(parts, np.argsort(np.concatenate(buckets)))


def freeze_layers(model: Student, n_layers: int) -> None:
    """Leaves the embeddings and the first layers of the transformer as they are; nothing for 0."""
    trunk: Any = model.trunk
    for part in (trunk.embeddings, *trunk.encoder["layer"][:n_layers]) if n_layers else ():
        part.requires_grad_(False)


def _distil(student: Tensor, teacher: Tensor, recipe: StudentRecipe) -> Tensor:
    if recipe.distil == "none":
        return student.new_zeros(())
    if recipe.distil == "margin-mse":
        return margin_mse(student, teacher / recipe.t_teacher)
    return softened_kl(student, teacher, 1.0, recipe.t_teacher)


def _lists(scores: Sequence[Tensor]) -> Tensor:
    """(B, n) from lists that may differ in length, the missing ones -inf."""
    return nn.utils.rnn.pad_sequence(list(scores), batch_first=True, padding_value=-torch.inf)


def _padded(
    rows: Sequence[TokenRow],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Ids, what is seen and what gives a vector, (B, L) each, L a multiple of 32."""
    longest = max(len(row) for row in rows)
    shape = len(rows), -(-longest // PAD_MULTIPLE) * PAD_MULTIPLE
    ids, mask, kept = (np.zeros(shape, np.int64) for _ in range(3))
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)], kept[i, row.kept] = row.ids, 1, 1
    return ids, mask, kept


@dataclass(frozen=True, slots=True)
class _Texts:
    """The rows of all questions and passages, by their text."""

    questions: Mapping[str, TokenRow]
    passages: Mapping[str, TokenRow]

    @classmethod
    def of(cls, examples: Sequence[RankingExample], sides: tuple[TokenRows, TokenRows]) -> _Texts:
        questions = list(dict.fromkeys(one.question for one in examples))
        passages = list(dict.fromkeys(text for one in examples for text in one.passages))
        asked, read = (rows.of(texts) for rows, texts in zip(sides, (questions, passages), strict=True))
        return cls(dict(zip(questions, asked, strict=True)), dict(zip(passages, read, strict=True)))
