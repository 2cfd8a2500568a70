"""The training losses of a reader: spans, evidence, and distillation from a teacher.

A group is a question with an answering passage and negatives, or with a single passage. Rows are passages,
group after group. B rows have a padded length of L tokens; `null` is the position of [CLS].

    span_loss                     cross-entropy of first and last token within a passage; [CLS] for no answer
    shared_normalization_loss     the same over all passages of a group and one "none"
    evidence_loss                 BCE per token: 1 in the sentences of the answer (support)
                                  + BCE per passage: 1 for the one that answers (relevance)
                                  + ListNet over the passages of a group
                                  + 0.9 BCE of yes_no, yes and several, means over the sentences of the answer
    distillation_loss             KL divergence to a teacher's spans and relevance, MSE to its support

The evidence head has the outputs of `models.numpy_bert.EVIDENCE_OUTPUTS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import (
    binary_cross_entropy_with_logits as bce,
    cross_entropy,
    log_softmax,
    mse_loss,
)

from .span_reader import PASSAGE, SUPPORT, YES_NO

LABEL_WEIGHT = 0.9  # of yes_no, yes and several


def span_loss(start: Tensor, end: Tensor, allowed: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """The mean over rows of -ln P(first) - ln P(last): the sum of two cross-entropies.

    start, end: (B, L) logits.
    allowed: (B, L) bool, the positions of the softmax: passage tokens and [CLS].
    first, last: (B,) int64, the gold positions; the position of [CLS] for no answer.

    Source: Devlin et al. 2019, section 4.2. Several libraries halve this sum.

    >>> start, end = torch.tensor([[1, 5, 2, 0.]]), torch.tensor([[4, 1, 3, 2.]])
    >>> allowed = torch.ones(1, 4, dtype=torch.bool)
    >>> round(float(span_loss(start, end, allowed, torch.tensor([1]), torch.tensor([2]))), 5)
    1.51236
    """
    start_loss = cross_entropy(start.float().masked_fill(~allowed, -torch.inf), first)
    end_loss = cross_entropy(end.float().masked_fill(~allowed, -torch.inf), last)
    return start_loss + end_loss


def shared_normalization_loss(
    start: Tensor,
    end: Tensor,
    is_passage: Tensor,
    null: int,
    sizes: Sequence[int],
    first: Tensor,
    last: Tensor,
) -> Tensor:
    """The mean over groups of -ln P(first) - ln P(last), with one softmax over a group and one "none".

    start, end: (B, L) logits; the logit of "none" is the mean of those at `null` in the group.
    is_passage: (B, L) bool.
    sizes: the number of rows of each group.
    first, last: (B,) int64, the gold positions; `null` in the first row of a group without an answer.

    Source: Clark and Gardner, "Simple and Effective Multi-Paragraph Reading Comprehension", 2018, section 3.2
    (shared normalization). Deviation: one "none" per group; in the paper there is one per paragraph.

    >>> start = torch.tensor([[0.0, 2.0], [0.0, 1.0]])  # two passages of one token, [CLS] first
    >>> passage = torch.tensor([[False, True], [False, True]])
    >>> gold = torch.tensor([1, 0])
    >>> round(float(shared_normalization_loss(start, start, passage, 0, [2], gold, gold)), 5)
    0.81521
    """
    losses = []
    for logits, gold in ((start.float(), first), (end.float(), last)):
        tokens = logits.masked_fill(~is_passage, -torch.inf)
        begin = 0
        for size in sizes:
            rows = slice(begin, begin + size)
            none = logits[rows, null].mean().unsqueeze(0)
            choices = torch.cat([none, tokens[rows].flatten()])  # (1 + size * L,)
            target = torch.where(gold[begin] == null, 0, gold[begin] + 1)
            losses.append(cross_entropy(choices.unsqueeze(0), target.unsqueeze(0)))
            begin += size
    return 2 * torch.stack(losses).mean()


def evidence_loss(
    evidence: Tensor, support: Tensor, is_passage: Tensor, labels: Tensor, null: int, sizes: Sequence[int]
) -> Tensor:
    """The sum of the losses of the evidence head; see the docstring of the module.

    evidence: (B, L, 5) float32 logits, in the order of EVIDENCE_OUTPUTS.
    support: (B, L) float32, 1 in the sentences of the answer.
    is_passage: (B, L) bool.
    labels: (B, 3) of yes_no, yes and several; -1 is ignored.
    sizes: the number of rows of each list, the answering row first.
    """
    relevance = evidence[:, null, PASSAGE]  # (B,)
    token_loss = bce(evidence[..., SUPPORT][is_passage], support[is_passage])
    loss = token_loss + bce(relevance, support.amax(dim=1))
    loss = loss + listnet_loss(relevance, sizes)
    n_support = support.sum(dim=1).clamp_min(1)[:, None]
    means = (support[..., None] * evidence[..., YES_NO:]).sum(dim=1) / n_support  # (B, 3)
    is_labelled = labels >= 0
    if bool(is_labelled.any()):
        loss = loss + LABEL_WEIGHT * bce(means[is_labelled], labels[is_labelled])
    return loss


def listnet_loss(logits: Tensor, sizes: Sequence[int]) -> Tensor:
    """The mean over lists of -ln P(first row), a softmax over the rows of a list; single rows are ignored.

    logits: (B,), list after list. The loss is 0 if no list has several rows.
    sizes: the number of rows of each list.

    Source: Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", 2007, section 4.

    >>> round(float(listnet_loss(torch.tensor([2.0, 0.0, 1.0, 5.0]), [3, 1])), 5)
    0.40761
    """
    losses = [-rows.log_softmax(dim=0)[0] for rows in logits.split(list(sizes)) if len(rows) > 1]
    return torch.stack(losses).mean() if losses else logits.new_zeros(())


@dataclass(frozen=True, slots=True)
class TeacherLogits:
    """A teacher's logits for the rows of a batch.

    is_scored: (B,) bool, False for a row that the teacher did not score.
    start, end: (B, L), -inf for a token outside the teacher's label.
    null: (B, 2), the start and the end logit of "no answer".
    relevance: (B,).
    support: (B, L), the logit of a token's sentence; NaN if unknown.
    """

    is_scored: Tensor
    start: Tensor
    end: Tensor
    null: Tensor
    relevance: Tensor
    support: Tensor


def distillation_loss(
    start: Tensor,
    end: Tensor,
    evidence: Tensor,
    teacher: TeacherLogits,
    is_passage: Tensor,
    null: int,
    sizes: Sequence[int],
    temperature: float,
) -> Tensor:
    """KL of spans and relevance to a teacher, means over groups, plus the MSE of support.

    The distributions of first and last token run over all passages of a group and one "none". The
    distribution of relevance runs over the passages of a group. Rows without teacher logits are left out; the
    loss is 0 if no row has any.

    start, end: (B, L) logits.
    evidence: (B, L, 5) logits.
    is_passage: (B, L) bool.
    sizes: the number of rows of each group.
    temperature: T, which divides all logits; the KL terms are multiplied by T^2.

    Source: Hinton et al., "Distilling the Knowledge in a Neural Network", 2015, section 2.
    """
    terms = []
    n_groups = 0
    begin = 0
    for size in sizes:
        group = torch.arange(begin, begin + size, device=start.device)
        begin += size
        rows = group[teacher.is_scored[group]]
        if not len(rows):
            continue
        n_groups += 1
        inside = is_passage[rows]
        for side, logits, target in ((0, start, teacher.start), (1, end, teacher.end)):
            none = logits[rows, null].mean().unsqueeze(0)
            target_none = teacher.null[rows, side].mean().unsqueeze(0)
            student = torch.cat([none, logits[rows][inside]])
            terms.append(_kl(student, torch.cat([target_none, target[rows][inside]]), temperature))
        if len(rows) > 1:
            terms.append(_kl(evidence[rows, null, PASSAGE], teacher.relevance[rows], temperature))
    if not terms:
        return start.new_zeros(())
    loss = torch.stack(terms).sum() / n_groups
    has_support = ~torch.isnan(teacher.support)
    if bool(has_support.any()):
        loss = loss + mse_loss(evidence[..., SUPPORT][has_support].float(), teacher.support[has_support])
    return loss


def _kl(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """T^2 KL(teacher || student) of logits (n,) divided by T, without entries where the teacher has -inf."""
    target = log_softmax(teacher.float() / temperature, dim=0)
    prediction = log_softmax(student.float() / temperature, dim=0)
    terms = target.exp() * (target - prediction)
    return temperature**2 * terms.masked_fill(~torch.isfinite(target), 0).sum()
