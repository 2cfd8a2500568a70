"""Distillation of a cross-encoder into a student model, whose vectors an index stores.

One transformer reads questions and passages. A linear layer turns its states into the token vectors of
ColBERT. Two more linear layers, for questions and for passages, turn the mean state into a text vector (DPR).
A batch has several questions, each with a list of passages, the positive one first. S(q, d) is MaxSim or the
cosine of the two vectors.

    loss(S, tau) = KL(p(teacher; T), p(S; tau)) + labels * in-batch(S / tau)
    loss         = loss(MaxSim, tau) + dense * loss(cosine, dense_tau)

p(z; T) is the softmax of a list's scores z / T. The in-batch term is -ln of the positive passage's softmax
over all passages of the batch.

A second teacher is an encoder E that nobody taught here. Over all passages of the batch, and all compared
tokens t with the states s of the student and e of the teacher:

    loss = loss + similar * KL(p(MaxSim of E; tau), p(MaxSim; tau))
                + states * mean over t of 1 - cos(s_t, e_t)

Source: Khattab and Zaharia 2020 (MaxSim); Santhanam et al., "ColBERTv2: Effective and Efficient Retrieval via
Lightweight Late Interaction", 2022, section 3.2 (KL to a cross-encoder, in-batch negatives); Hinton et al.,
"Distilling the Knowledge in a Neural Network", 2015, without their factor T^2; Karpukhin et al. 2020 (dense
heads); Sanh et al., "DistilBERT", 2019 (cosines of states).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the field's name for it)
from numpy.typing import NDArray
from torch import Tensor, nn

from spanwise.types import RankingExample

from ...models.batching import PackedTokens, padded, shuffled_batches, token_budget_batches
from ...models.packed_forward import Backbone
from ...models.packed_training import training_states
from ...models.precision import autocast
from ...models.tokenizer import TokenRow, TokenRows, packed_rows
from ...models.training import Evaluate, Progress, TrainingConfig, freeze, train

BATCH_TOKENS = 16384  # of an evaluation
PAD_MULTIPLE = 32
_BUCKET = 64  # smaller buckets have less padding but are slower
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Side = Literal["question", "passage"]


@dataclass(frozen=True, slots=True)
class DistillationConfig:
    """The settings of a distillation.

    loop: the settings of the training loop.
    epochs: passes over the lists.
    negatives: the number per list, drawn again for each epoch.
    batch_tokens: the size of a batch, with padding.
    max_length: of a text, in tokens.
    tau: divides MaxSim.
    dense_tau: divides the cosine.
    t_teacher: divides the teacher's scores.
    labels: weight of the in-batch loss.
    dense: weight of the dense heads.
    similar: weight of the second teacher's ranking.
    states: weight of the cosines between its states and the student's.
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
    similar: float = 1.0
    states: float = 1.0


class Student(nn.Module):
    """A transformer with a token projection and two dense heads."""

    def __init__(
        self, backbone: nn.Module, projection: nn.Linear, question_head: nn.Linear, passage_head: nn.Linear
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.projection = projection
        self.question_head = question_head
        self.passage_head = passage_head

    def forward(self, rows: Sequence[TokenRow], side: Side) -> TextVectors:
        """The vectors of texts, given as rows of tokens."""
        device = self.projection.weight.device
        packed = PackedTokens.of([row.ids for row in rows])
        _, mask, compared = (torch.from_numpy(values).to(device) for values in packed.padded(0, PAD_MULTIPLE))
        for of_text, row in zip(compared, rows, strict=True):
            of_text[row.places] = 1
        of_tokens = training_states(self.backbone, packed).float()  # (T, H)
        states = of_tokens.new_zeros(*mask.shape, of_tokens.shape[1])
        states[mask.bool()] = of_tokens
        with torch.autocast(device.type, enabled=False):
            tokens = F.normalize(self.projection(states), dim=-1)
            is_token = mask.unsqueeze(-1).float()
            pooled = (states * is_token).sum(dim=1) / is_token.sum(dim=1)
            head = self.question_head if side == "question" else self.passage_head
            return TextVectors(tokens, compared.bool(), states, F.normalize(head(pooled), dim=-1))


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The vectors of B texts, padded to L tokens.

    tokens: (B, L, width) unit vectors.
    compared: (B, L) bool, the tokens that MaxSim compares.
    states: (B, L, H) the states of the transformer, which the token vectors are made from.
    dense: (B, H) unit vectors.
    """

    tokens: Tensor
    compared: Tensor
    states: Tensor
    dense: Tensor

    @classmethod
    def joined(cls, parts: Sequence[TextVectors], order: Ints) -> TextVectors:
        """The texts of all parts in the given order, padded to the longest."""
        longest = max(part.compared.shape[1] for part in parts)
        n_pads = [longest - part.compared.shape[1] for part in parts]
        pairs = list(zip(parts, n_pads, strict=True))
        tokens = torch.cat([F.pad(part.tokens, (0, 0, 0, n)) for part, n in pairs])
        compared = torch.cat([F.pad(part.compared, (0, n)) for part, n in pairs])
        states = torch.cat([F.pad(part.states, (0, 0, 0, n)) for part, n in pairs])
        dense = torch.cat([part.dense for part in parts])
        return cls(tokens[order], compared[order], states[order], dense[order])


class SecondTeacher:
    """An encoder whose states are compared by MaxSim as they are; those of a text are computed once.

    They take 2 H bytes a token, 3 GB for 20,000 passages. `backbone` reads the same tokens as the student.
    """

    def __init__(self, backbone: nn.Module) -> None:
        self._backbone = Backbone(backbone)
        self._kept: dict[bytes, Tensor] = {}  # by the bytes of the token ids

    def states(self, rows: Sequence[TokenRow], length: int) -> Tensor:
        """(B, length, H): the unit states of texts, 0 at padding."""
        keys = [np.asarray(row.ids).tobytes() for row in rows]
        self._compute({key: row for key, row in zip(keys, rows, strict=True) if key not in self._kept})
        return torch.stack([F.pad(self._kept[key], (0, 0, 0, length - len(self._kept[key]))) for key in keys])

    def _compute(self, rows: Mapping[bytes, TokenRow]) -> None:
        if rows:
            packed = PackedTokens.of([row.ids for row in rows.values()])
            states = F.normalize(self._backbone.states(packed).float(), dim=-1).bfloat16()
            self._kept.update(zip(rows, states.split(packed.lengths.tolist()), strict=True))


def max_sim(questions: TextVectors, passages: TextVectors) -> Tensor:
    """(Q, P): the sum over a question's compared tokens of the highest similarity to one of the passage's."""
    n_questions, length, width = questions.tokens.shape
    flat = questions.tokens.reshape(-1, width)
    similar = torch.einsum("rw,plw->rpl", flat, passages.tokens)  # (Q * L, P, L_p)
    best = similar.masked_fill(~passages.compared, -torch.inf).amax(dim=-1)
    best = best.reshape(n_questions, length, -1)
    return best.masked_fill(~questions.compared.unsqueeze(-1), 0).sum(dim=1)


def softened_kl(student: Tensor, teacher: Tensor, t_teacher: float = 1.0) -> Tensor:
    """KL(teacher || student), the mean over lists; scores (B, n), -inf in both for a missing passage.

    >>> teacher, student = torch.tensor([[10.2, 3.1, -0.8]]), torch.tensor([[8.7, 2.5, -0.2]])
    >>> round(float(softened_kl(student, teacher)), 6), round(float(softened_kl(student / 4, teacher, 4)), 6)
    (0.000545, 0.009959)
    """
    target = F.log_softmax(teacher.float() / t_teacher, dim=-1)
    prediction = F.log_softmax(student.float(), dim=-1)
    terms = target.exp() * (target - prediction)
    return terms.masked_fill(~torch.isfinite(target), 0).sum(dim=-1).mean()


def distil(
    model: Student,
    tokens: TokenRows,
    examples: Sequence[RankingExample],
    config: DistillationConfig,
    folder: Path,
    evaluate: Evaluate,
    select_by: str,
    report: Callable[[Progress], None],
    second: SecondTeacher | None = None,
) -> list[dict[str, float]]:
    """Trains `model` in place and returns the evaluations; the best weights stay in it.

    ValueError for an example without the teacher's scores, where there is no second one.
    """
    unscored = sum(not example.scores for example in examples)
    if unscored and second is None:
        raise ValueError(f"{unscored} of {len(examples)} lists have no teacher scores. Run `train mine`")
    freeze(model)
    texts = dict.fromkeys(text for example in examples for text in (example.question, *example.passages))
    rows = dict(zip(texts, tokens.of(list(texts)), strict=True))
    lists = draw_lists(examples, config.epochs, config.negatives, config.loop.seed)
    lengths = [mean_length([len(rows[text]) for text in each.passages]) for each in lists]
    budget = config.batch_tokens // (1 + config.negatives)
    batches = shuffled_batches(lengths, config.epochs, budget, PAD_MULTIPLE, config.loop.seed)

    def loss(model: nn.Module, batch: Ints) -> Tensor:
        return distillation_loss(model, [lists[i] for i in batch], rows, config, second)

    return train(model, batches, loss, config.loop, folder, evaluate, select_by, report)


def distillation_loss(
    model: Any,
    lists: Sequence[RankingExample],
    rows: Mapping[str, TokenRow],
    config: DistillationConfig,
    second: SecondTeacher | None = None,
) -> Tensor:
    """The loss of a batch, see the docstring of the module; `rows` are those of all texts.

    A passage of several lists is one column; otherwise it would compete with itself as a negative. A list
    without scores has only the in-batch term and what the second teacher says.
    """
    texts = list(dict.fromkeys(passage for each in lists for passage in each.passages))
    column = {text: i for i, text in enumerate(texts)}
    of_questions = [rows[each.question] for each in lists]
    of_passages = [rows[text] for text in texts]
    questions = model(of_questions, "question")
    passages = _in_buckets(model, of_passages)
    columns_of = [[column[passage] for passage in each.passages] for each in lists]
    device = questions.dense.device
    positive = torch.tensor([columns[0] for columns in columns_of], device=device)
    scored = [i for i, each in enumerate(lists) if each.scores]
    teacher = in_rows([torch.tensor(lists[i].scores) for i in scored]).to(device) if scored else None

    def loss(scores: Tensor, tau: float) -> Tensor:
        scores = scores / tau
        total = config.labels * label_loss(scores, positive)
        if teacher is not None:
            student = in_rows([scores[i][columns_of[i]] for i in scored])
            total = total + softened_kl(student, teacher, config.t_teacher)
        return total

    similar = max_sim(questions, passages)
    total = loss(similar, config.tau)
    if config.dense:
        total = total + config.dense * loss(questions.dense @ passages.dense.T, config.dense_tau)
    if second is not None:
        seen = [
            replace(vectors, tokens=second.states(own, vectors.compared.shape[1]).to(device).float())
            for vectors, own in ((questions, of_questions), (passages, of_passages))
        ]
        ranking = softened_kl(similar / config.tau, max_sim(*seen) / config.tau)
        total = total + config.similar * ranking
        if config.states:
            total = total + config.states * sum(map(_distance, seen)) / len(seen)
    return total


def _distance(vectors: TextVectors) -> Tensor:
    """The mean of 1 - cosine between the states of compared tokens and their vectors in `tokens`."""
    cosines = F.cosine_similarity(vectors.states[vectors.compared], vectors.tokens[vectors.compared], dim=-1)
    return 1 - cosines.mean()


@torch.inference_mode()
def student_scores(
    model: Student, rows: TokenRows, examples: Sequence[RankingExample]
) -> tuple[list[Floats], list[Floats]]:
    """For each example the MaxSim of its question with each passage, and the cosines of the dense vectors."""
    question_vectors = _vectors(model, rows, [example.question for example in examples], "question")
    texts = [text for example in examples for text in example.passages]
    passage_vectors = _vectors(model, rows, texts, "passage")
    max_sims = []
    cosines = []
    for example in examples:
        question = question_vectors[example.question]
        passages = [passage_vectors[text] for text in example.passages]
        max_sims.append(np.array([float(max_sim(question, passage)) for passage in passages], np.float32))
        products = [float((question.dense * passage.dense).sum()) for passage in passages]
        cosines.append(np.array(products, np.float32))
    return max_sims, cosines


def untrained_projection(backbone: nn.Module, rows: Sequence[TokenRow], width: int) -> nn.Linear:
    """An initial token layer without bias: the principal directions of the unit states of `rows`.

    It keeps more of the cosines between states than any other projection to so few numbers.
    """
    _, directions = np.linalg.eigh(second_moment(backbone, rows))  # ascending
    weight = np.ascontiguousarray(directions[:, ::-1].T[:width])  # (width, H)
    layer = nn.Linear(weight.shape[1], width)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight))
        layer.bias.zero_()
    return layer


def identity_head(n_in: int) -> nn.Linear:
    """An initial dense head: the identity."""
    head = nn.Linear(n_in, n_in)
    nn.init.eye_(head.weight)
    nn.init.zeros_(head.bias)
    return head


def second_moment(backbone: nn.Module, rows: Sequence[TokenRow]) -> NDArray[np.float64]:
    """(H, H): the mean of x x^T over the unit states x of all compared tokens."""
    if not rows:
        raise ValueError("there are no passages to compute the states of")
    runner = Backbone(backbone)
    width: int = backbone.config.hidden_size  # type: ignore[union-attr, assignment]
    total = np.zeros((width, width))
    n_tokens = 0
    for batch in token_budget_batches([len(row) for row in rows], BATCH_TOKENS // 2):
        tokens, compared = packed_rows([rows[i] for i in batch])
        states = F.normalize(runner.states(tokens)[torch.from_numpy(compared)].double(), dim=-1)
        total += (states.T @ states).numpy()
        n_tokens += len(compared)
    moment: NDArray[np.float64] = total / n_tokens
    return moment


def _vectors(model: Student, tokens: TokenRows, texts: Sequence[str], side: Side) -> dict[str, TextVectors]:
    """The vectors of each distinct text, without padding."""
    distinct = list(dict.fromkeys(texts))
    rows = tokens.of(distinct)
    vectors = {}
    for batch in token_budget_batches([len(row) for row in rows], BATCH_TOKENS, PAD_MULTIPLE):
        with autocast(model.projection.weight.device):
            encoded = model([rows[i] for i in batch], side)
        tokens_of = encoded.tokens.cpu()
        compared = encoded.compared.cpu()
        dense = encoded.dense.cpu()
        states = encoded.states.cpu()
        for number, i in enumerate(batch):
            row = slice(number, number + 1)
            own = compared[number]
            seen = states[row, own]
            vectors[distinct[i]] = TextVectors(tokens_of[row, own], compared[row, own], seen, dense[row])
    return vectors


def _in_buckets(model: Any, passages: Sequence[TokenRow]) -> TextVectors:
    buckets = length_buckets([len(row) for row in passages])
    parts = [model([passages[i] for i in bucket], "passage") for bucket in buckets]
    return TextVectors.joined(parts, np.argsort(np.concatenate(buckets)))


def draw_lists(
    examples: Sequence[RankingExample], epochs: int, negatives: int, seed: int
) -> list[RankingExample]:
    """A list for each epoch and example, in order; examples without negatives are left out.

    The seed draws the positive passage and up to `negatives` negatives. ValueError when no example has
    negatives.
    """
    rng = random.Random(seed)
    lists = []
    for _ in range(epochs):
        for example in examples:
            others = range(example.n_positive, len(example.passages))
            if others:
                positive = rng.randrange(example.n_positive)
                drawn = [positive, *rng.sample(others, min(negatives, len(others)))]
                passages = tuple(example.passages[i] for i in drawn)
                scores = tuple(example.scores[i] for i in drawn if example.scores)
                lists.append(RankingExample(example.question, passages, 1, scores))
    if not lists:
        raise ValueError(f"none of the {len(examples)} lists has a negative passage. Run `train mine`")
    return lists


def length_buckets(lengths: Sequence[int]) -> list[Ints]:
    """The positions of items in buckets of similar length, short ones first, to save padding.

    >>> [part.tolist() for part in length_buckets([70, 10, 100, 30])]
    [[1, 3], [0, 2]]
    """
    buckets = -(-np.asarray(lengths) // _BUCKET)
    return [np.flatnonzero(buckets == bucket) for bucket in np.unique(buckets)]


def mean_length(lengths: Sequence[int]) -> int:
    """The mean of the padded lengths, rounded up."""
    return -(-sum(padded(length, PAD_MULTIPLE) for length in lengths) // len(lengths))


def label_loss(scores: Tensor, positive: Tensor) -> Tensor:
    """-ln p of the positive passage, the mean over questions; `scores` (B, n), `positive` (B,) columns.

    If the columns are the passages of a whole batch, those of other questions are in-batch negatives.

    >>> round(float(label_loss(torch.tensor([[2., 1.], [0., 3.]]), torch.tensor([0, 1]))), 5)
    0.18092
    """
    return F.cross_entropy(scores.float(), positive)


def in_rows(scores: Sequence[Tensor]) -> Tensor:
    """(B, n) from lists of different lengths, missing scores -inf."""
    return torch.nn.utils.rnn.pad_sequence(list(scores), batch_first=True, padding_value=-torch.inf)
