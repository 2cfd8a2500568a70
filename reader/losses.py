"""The losses of a reader's training: of spans, of the evidence, of similarity, and towards a teacher.

A group is a question with a passage that answers it and others that do not; or with one passage.

    loss = -ln P(first) - ln P(last)                 within a passage; those without the answer point at [CLS]
           -ln P(first) - ln P(last)                 over all passages of a group and one "none"
           + BCE(support of each token)              1 in the sentences of the answer
           + BCE(passage) - ln P(passage in group)   1 for the passage that answers
           + 0.9 BCE(yes_no, yes, several)           means over the sentences of the answer
           - ln P(own passage in batch)              by the cosine of mean states, read apart

A student learns from a teacher's scores as well, see `distillation_loss`.

The logits of the evidence are those of `models.bert.EVIDENCE_OUTPUTS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits as bce
from torch.nn.functional import cross_entropy, log_softmax, mse_loss, normalize

LABEL_WEIGHT = 0.9
SIMILARITY_SCALE = 20.0  # of cosines: that of the sentence-transformers models


def span_loss(start: Tensor, end: Tensor, allowed: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """The mean over the batch of -ln P(first) - ln P(last): the sum of the two cross-entropies.

    `start`, `end`: (B, L) logits. `allowed`: (B, L) bool, the positions of the softmax (passage tokens
    and [CLS]). `first`, `last`: (B,) int64 gold positions, that of [CLS] for no answer.
    Source: Devlin et al. 2019, section 4.2. Deviation: the sum, where several libraries halve it.

    >>> start, end = torch.tensor([[1, 5, 2, 0.]]), torch.tensor([[4, 1, 3, 2.]])
    >>> allowed = torch.ones(1, 4, dtype=torch.bool)
    >>> round(float(span_loss(start, end, allowed, torch.tensor([1]), torch.tensor([2]))), 5)
    1.51236
    """
    of_start = cross_entropy(start.float().masked_fill(~allowed, -torch.inf), first)
    of_end = cross_entropy(end.float().masked_fill(~allowed, -torch.inf), last)
    return of_start + of_end


def shared_span_loss(
    start: Tensor,
    end: Tensor,
    is_passage: Tensor,
    null: int,
    sizes: Sequence[int],
    first: Tensor,
    last: Tensor,
) -> Tensor:
    """The mean over groups of -ln P(first) - ln P(last), a softmax over all passages of a group and "none".

    `start`, `end`: (B, L) logits, group after group, `sizes` rows each. `is_passage`: (B, L) bool. `null`:
    the position of [CLS]; the logit of "none" is the mean of those there. `first`, `last`: (B,) int64,
    `null` in the first row of a group that has no answer. Source: Clark and Gardner, "Simple and Effective
    Multi-Paragraph Reading Comprehension", 2018, section 3.2 (shared normalisation). Deviation: one "none" a
    group, where they have one a paragraph.

    >>> start = torch.tensor([[0.0, 2.0], [0.0, 1.0]])  # two passages of one token, [CLS] first
    >>> passage = torch.tensor([[False, True], [False, True]])
    >>> gold = torch.tensor([1, 0])
    >>> round(float(shared_span_loss(start, start, passage, 0, [2], gold, gold)), 5)
    0.81521
    """
    losses = []
    for logits, gold in ((start.float(), first), (end.float(), last)):
        tokens = logits.masked_fill(~is_passage, -torch.inf)
        begin = 0
        for size in sizes:
            rows = slice(begin, begin + size)
            none = logits[rows, null].mean().unsqueeze(0)
            every = torch.cat([none, tokens[rows].flatten()])
            target = torch.where(gold[begin] == null, 0, gold[begin] + 1)
            losses.append(cross_entropy(every.unsqueeze(0), target.unsqueeze(0)))
            begin += size
    return 2 * torch.stack(losses).mean()


def similarity_loss(questions: Tensor, passages: Tensor) -> Tensor:
    """The mean over questions of -ln P(own passage), a softmax of cosines over all passages of the batch.

    `questions`, `passages`: (B, H) mean states; row i of one belongs to row i of the other. 0 for a single
    one. Source: van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018,
    equation 4 (InfoNCE).

    >>> round(float(similarity_loss(torch.eye(2), torch.eye(2))), 5)
    0.0
    """
    cosines = normalize(questions.float(), dim=1) @ normalize(passages.float(), dim=1).T
    own = torch.arange(len(cosines), device=cosines.device)
    return cross_entropy(SIMILARITY_SCALE * cosines, own)


def evidence_loss(
    evidence: Tensor, support: Tensor, is_passage: Tensor, labels: Tensor, null: int, sizes: Sequence[int]
) -> Tensor:
    """The sum of the losses of the evidence head, see the module.

    `evidence`: (B, L, 5) float32 logits in the order of EVIDENCE_OUTPUTS, group after group. `support`:
    (B, L) float32, 1 in the sentences of the answer. `is_passage`: (B, L) bool. `labels`: (B, 3), of which
    -1 counts nothing. `null`: the position of [CLS]. `sizes`: the rows of each list, the answering one first.
    """
    passage = evidence[:, null, 1]  # (B,)
    loss = bce(evidence[..., 0][is_passage], support[is_passage]) + bce(passage, support.amax(dim=1))
    loss = loss + listwise_loss(passage, sizes)
    n_support = support.sum(dim=1).clamp_min(1)[:, None]
    means = (support[..., None] * evidence[..., 2:]).sum(dim=1) / n_support  # (B, 3)
    known = labels >= 0
    if bool(known.any()):
        loss = loss + LABEL_WEIGHT * bce(means[known], labels[known])
    return loss


def listwise_loss(logits: Tensor, sizes: Sequence[int]) -> Tensor:
    """The mean over groups of several rows of -ln P(first row), 0 where there is none.

    `logits`: (B,), group after group; the softmax runs over the rows of a group. `sizes`: their rows.
    Source: Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", 2007, section 4.

    >>> round(float(listwise_loss(torch.tensor([2.0, 0.0, 1.0, 5.0]), [3, 1])), 5)
    0.40761
    """
    lists = [-group.log_softmax(dim=0)[0] for group in logits.split(list(sizes)) if len(group) > 1]
    return torch.stack(lists).mean() if lists else logits.new_zeros(())


@dataclass(frozen=True, slots=True)
class TeacherScores:
    """A teacher's logits for the rows of a batch; a row without them is False in `known` (B,).

    `start` and `end` (B, L): -inf where the teacher's label has none; `none` (B, 2): start and end of no
    answer. `relevance` (B,). `support` (B, L): that of a token's sentence, NaN where it is unknown.
    """

    known: Tensor
    start: Tensor
    end: Tensor
    none: Tensor
    relevance: Tensor
    support: Tensor


def distillation_loss(
    start: Tensor,
    end: Tensor,
    evidence: Tensor,
    teacher: TeacherScores,
    is_passage: Tensor,
    null: int,
    sizes: Sequence[int],
    temperature: float,
) -> Tensor:
    """T^2 KL of spans + T^2 KL of relevance, means over groups, + MSE of support, towards a teacher.

    The distributions of first token and last token run over all passages of a group and one "none", that of
    relevance over its passages; all logits are divided by the temperature T. Rows that the teacher does not
    know are left out. `start`, `end`: (B, L) logits; `evidence`: (B, L, 5); `is_passage`: (B, L) bool.
    `null`: the position of [CLS]. `sizes`: the rows of each group. 0 where the teacher knows nothing.
    Source: Hinton et al., "Distilling the Knowledge in a Neural Network", 2015, section 2.
    """
    terms = []
    begin = 0
    for size in sizes:
        known = torch.arange(begin, begin + size, device=start.device)[teacher.known[begin : begin + size]]
        begin += size
        if not len(known):
            continue
        inside = is_passage[known]
        for side, ours, theirs in ((0, start, teacher.start), (1, end, teacher.end)):
            student = torch.cat([ours[known, null].mean().unsqueeze(0), ours[known][inside]])
            target = torch.cat([teacher.none[known, side].mean().unsqueeze(0), theirs[known][inside]])
            terms.append(_softened_kl(student, target, temperature))
        if len(known) > 1:
            relevance = evidence[known, null, 1]
            terms.append(_softened_kl(relevance, teacher.relevance[known], temperature))
    if not terms:
        return start.new_zeros(())
    n_groups = sum(bool(rows.any()) for rows in teacher.known.split(list(sizes)))
    has_support = ~torch.isnan(teacher.support)
    support = mse_loss(evidence[..., 0][has_support].float(), teacher.support[has_support])
    return torch.stack(terms).sum() / n_groups + (support if bool(has_support.any()) else 0)


def _softened_kl(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """T^2 KL(teacher || student) of logits (n,), divided by T; a logit of -inf of the teacher counts 0."""
    target = log_softmax(teacher.float() / temperature, dim=0)
    ours = log_softmax(student.float() / temperature, dim=0)
    terms = target.exp() * (target - ours)
    return temperature**2 * terms.masked_fill(~torch.isfinite(target), 0).sum()
