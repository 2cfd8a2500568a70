"""Distillation of a cross-encoder into a student model, whose vectors an index stores.

One transformer reads questions and passages. A linear layer turns its states into the token vectors of
ColBERT. Two more linear layers, for questions and for passages, turn the mean state into a text vector (DPR).
A batch has several questions, each with a list of passages, the positive one first. S(q, d) is MaxSim or the
cosine of the two vectors.

    loss(S, tau) = KL(p(teacher; T), p(S; tau)) + labels * in-batch(S / tau)
    loss         = loss(MaxSim, tau) + dense * loss(cosine, dense_tau)

p(z; T) is the softmax of a list's scores z / T. The in-batch term is -ln of the positive passage's softmax
over all passages of the batch.

Source: Khattab and Zaharia 2020 (MaxSim); Santhanam et al., "ColBERTv2: Effective and Efficient Retrieval via
Lightweight Late Interaction", 2022, section 3.2 (KL to a cross-encoder, in-batch negatives); Hinton et al.,
"Distilling the Knowledge in a Neural Network", 2015, without their factor T^2; Karpukhin et al. 2020 (dense
heads).
"""

from __future__ import annotations

import random
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
            return TextVectors(tokens, compared.bool(), F.normalize(head(pooled), dim=-1))


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The vectors of B texts, padded to L tokens.

    tokens: (B, L, width) unit vectors.
    compared: (B, L) bool, the tokens that MaxSim compares.
    dense: (B, H) unit vectors.
    """

    tokens: Tensor
    compared: Tensor
    dense: Tensor

    @classmethod
    def joined(cls, parts: Sequence[TextVectors], order: Ints) -> TextVectors:
        """The texts of all parts in the given order, padded to the longest."""
        longest = max(part.compared.shape[1] for part in parts)
        n_pads = [longest - part.compared.shape[1] for part in parts]
        pairs = list(zip(parts, n_pads, strict=True))
        tokens = torch.cat([F.pad(part.tokens, (0, 0, 0, n)) for part, n in pairs])
        compared = torch.cat([F.pad(part.compared, (0, n)) for part, n in pairs])
        return cls(tokens[order], compared[order], torch.cat([part.dense for part in parts])[order])


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
) -> list[dict[str, float]]:
    """Trains `model` in place and returns the evaluations; the best weights stay in it.

    ValueError for an example without the teacher's scores.
    """
    unscored = sum(not example.scores for example in examples)
    if unscored:
        raise ValueError(f"{unscored} of {len(examples)} lists have no teacher scores. Run `train mine`")
    freeze(model)
    texts = dict.fromkeys(text for example in examples for text in (example.question, *example.passages))
    rows = dict(zip(texts, tokens.of(list(texts)), strict=True))
    lists = draw_lists(examples, config.epochs, config.negatives, config.loop.seed)
    lengths = [mean_length([len(rows[text]) for text in each.passages]) for each in lists]
    budget = config.batch_tokens // (1 + config.negatives)
    batches = shuffled_batches(lengths, config.epochs, budget, PAD_MULTIPLE, config.loop.seed)

    def loss(model: nn.Module, batch: Ints) -> Tensor:
        return distillation_loss(model, [lists[i] for i in batch], rows, config)

    return train(model, batches, loss, config.loop, folder, evaluate, select_by, report)


def distillation_loss(
    model: Any, lists: Sequence[RankingExample], rows: Mapping[str, TokenRow], config: DistillationConfig
) -> Tensor:
    """The loss of a batch, see the docstring of the module; `rows` are those of all texts.

    A passage of several lists is one column; otherwise it would compete with itself as a negative.
    """
    texts = list(dict.fromkeys(passage for each in lists for passage in each.passages))
    column = {text: i for i, text in enumerate(texts)}
    questions = model([rows[each.question] for each in lists], "question")
    passages = _in_buckets(model, [rows[text] for text in texts])
    columns_of = [[column[passage] for passage in each.passages] for each in lists]
    device = questions.dense.device
    positive = torch.tensor([columns[0] for columns in columns_of], device=device)
    teacher = in_rows([torch.tensor(each.scores) for each in lists]).to(device)

    def loss(scores: Tensor, tau: float) -> Tensor:
        scores = scores / tau
        student = in_rows([row[columns] for row, columns in zip(scores, columns_of, strict=True)])
        return softened_kl(student, teacher, config.t_teacher) + config.labels * label_loss(scores, positive)

    total = loss(max_sim(questions, passages), config.tau)
    if config.dense:
        total = total + config.dense * loss(questions.dense @ passages.dense.T, config.dense_tau)
    return total


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


def untrained_projection(backbone: nn.Module, rows: Sequence[TokenRow], width: int, seed: int) -> nn.Linear:
    """An initial token layer, y = W (x - mean), with random orthonormal rows and the mean state of `rows`.

    The states of a language model share a large component, which would make all cosines high. A random
    projection preserves the cosines of the rest (Johnson and Lindenstrauss 1984).
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
    """An initial dense head: the identity."""
    head = nn.Linear(n_in, n_in)
    nn.init.eye_(head.weight)
    nn.init.zeros_(head.bias)
    return head


def mean_state(backbone: nn.Module, rows: Sequence[TokenRow]) -> NDArray[np.float64]:
    """(H,): the mean of the states of all compared tokens."""
    if not rows:
        raise ValueError("there are no passages to compute the mean state from")
    runner = Backbone(backbone)
    total = np.zeros(backbone.config.hidden_size)  # type: ignore[union-attr, arg-type]
    n_tokens = 0
    for batch in token_budget_batches([len(row) for row in rows], BATCH_TOKENS // 2):
        tokens, compared = packed_rows([rows[i] for i in batch])
        states = runner.states(tokens)[torch.from_numpy(compared)].float()
        total += states.sum(dim=0, dtype=torch.float64).numpy()
        n_tokens += len(compared)
    mean: NDArray[np.float64] = total / n_tokens
    return mean


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
        for number, i in enumerate(batch):
            row = slice(number, number + 1)
            own = compared[number]
            vectors[distinct[i]] = TextVectors(tokens_of[row, own], compared[row, own], dense[row])
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
