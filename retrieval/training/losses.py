"""What a student learns from a teacher's scores, and what either learns from labels.

    p_i(z; T) = exp(z_i / T) / sum over j of exp(z_j / T)         scores z of one list, softened by T

    KL        sum over i of  t_i ln(t_i / s_i),  t = p(teacher; T_t), s = p(student; T_s)
    MarginMSE mean over negatives of  ((s_pos - s_neg) - (t_pos - t_neg))^2
    labels    -ln p_pos(z; T)

Hinton et al. 2015 multiply a softened KL by T^2 so that its gradient, (s - t) / T in a list's scores, keeps
its size beside a hard loss; `softened_kl` does not, its callers may.

Source: Hinton et al., "Distilling the Knowledge in a Neural Network", 2015; Hofstätter et al., "Improving
Efficient Neural Ranking Models with Cross-Architecture Knowledge Distillation", 2020 (MarginMSE); Karpukhin
et al. 2020, section 3.2 (in-batch negatives).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 (the field's name for it)
from torch import Tensor


def softened_kl(student: Tensor, teacher: Tensor, t_student: float = 1.0, t_teacher: float = 1.0) -> Tensor:
    """KL(teacher || student), the mean over lists; scores (B, n), -inf in both for no passage.

    >>> teacher, student = torch.tensor([[10.2, 3.1, -0.8]]), torch.tensor([[8.7, 2.5, -0.2]])
    >>> round(float(softened_kl(student, teacher)), 6), round(float(softened_kl(student, teacher, 4, 4)), 6)
    (0.000545, 0.009959)
    """
    target = F.log_softmax(teacher.float() / t_teacher, dim=-1)
    ours = F.log_softmax(student.float() / t_student, dim=-1)
    terms = target.exp() * (target - ours)
    return terms.masked_fill(~torch.isfinite(target), 0).sum(dim=-1).mean()


def margin_mse(student: Tensor, teacher: Tensor, scale: float = 1.0) -> Tensor:
    """MarginMSE over lists (B, n), the positive passage first; `scale` multiplies the student's margins.

    >>> float(margin_mse(torch.tensor([[3., 1.]]), torch.tensor([[5., 2.]])))
    1.0
    """
    ours, theirs = (scores[:, :1] - scores[:, 1:] for scores in (student.float() * scale, teacher.float()))
    there = torch.isfinite(theirs)
    return (ours - theirs)[there].square().mean()


def label_loss(scores: Tensor, positive: Tensor, temperature: float = 1.0) -> Tensor:
    """-ln p of the positive passage, the mean over questions; `scores` (B, n), `positive` (B,) its column.

    With the passages of all questions of a batch as columns these are in-batch negatives.

    >>> round(float(label_loss(torch.tensor([[2., 1.], [0., 3.]]), torch.tensor([0, 1]))), 5)
    0.18092
    """
    return F.cross_entropy(scores.float() / temperature, positive)
