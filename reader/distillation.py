"""What a student learns from teachers: where they see the start and the end, softened.

    loss = alpha * hard + (1 - alpha) * T^2 * (KL(p_start || q_start) + KL(p_end || q_end))

    p = mean over the teachers of softmax(teacher's logits / T),   q = softmax(student's logits / T)

over the passage and the null position, averaged over the batch; `hard` is the loss of the gold answers. The
gradients of a softened softmax are smaller by 1 / T^2, which the factor makes up for.

Source: Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from ..models.pair_template import special_tokens
from .builtin import load_reader
from .checkpoint_reader import MAX_LENGTH

_PROBE = "Émile's MILL, built in 1887 (naïve; 3.5 km²) – unaffordable?"  # case, accents, signs, rare words


@dataclass(frozen=True, slots=True)
class Distillation:
    """The teachers, in inference mode; `alpha` is the weight of the gold answers."""

    teachers: Sequence[nn.Module]
    temperature: float = 2.0
    alpha: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what is no mixture, no temperature, or nobody to learn from."""
        if not self.teachers:
            raise ValueError("no teachers, expected at least one")
        if not self.temperature > 0:
            raise ValueError(f"temperature must be above 0, not {self.temperature}")
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha must be from 0 to 1, not {self.alpha}")

    def mixed(
        self, hard: Tensor, inputs: Mapping[str, Tensor], start: Tensor, end: Tensor, allowed: Tensor
    ) -> Tensor:
        """The loss of a batch: `start`, `end` (B, L) are the student's logits; they count where `allowed`."""
        with torch.no_grad():
            said = [self._output(teacher, inputs) for teacher in self.teachers]
            starts = softened([one.start_logits for one in said], allowed, self.temperature)
            ends = softened([one.end_logits for one in said], allowed, self.temperature)
        soft = softened_loss(start, starts, allowed, self.temperature)
        soft = soft + softened_loss(end, ends, allowed, self.temperature)
        return self.alpha * hard + (1 - self.alpha) * soft

    @staticmethod
    def _output(teacher: nn.Module, inputs: Mapping[str, Tensor]) -> Any:
        device = next(teacher.parameters()).device  # of several devices that train, one may hold the teachers
        return teacher(**{name: values.to(device) for name, values in inputs.items()})


def softened(logits: Sequence[Tensor], allowed: Tensor, temperature: float) -> Tensor:
    """(B, L): the mean of the softened distributions, 0 where it is not allowed.

    >>> p = softened([torch.tensor([[0.0, 2.0, 9.0]])], torch.tensor([[True, True, False]]), 2.0)
    >>> [round(value, 4) for value in p[0].tolist()]
    [0.2689, 0.7311, 0.0]
    """
    parts = [
        (one.to(allowed.device).float() / temperature).masked_fill(~allowed, -torch.inf) for one in logits
    ]
    return torch.stack([part.softmax(dim=-1) for part in parts]).mean(dim=0)


def softened_loss(student: Tensor, p: Tensor, allowed: Tensor, temperature: float) -> Tensor:
    """T^2 KL(p || q), the mean over the batch; `student` (B, L) logits, `p` (B, L) from `softened`."""
    log_q = (student.float() / temperature).masked_fill(~allowed, -torch.inf).log_softmax(dim=-1)
    terms = torch.special.xlogy(p, p) - p * log_q.masked_fill(~allowed, 0.0)  # (B, L)
    loss: Tensor = temperature**2 * terms.sum(dim=-1).mean()
    return loss


def load_teachers(
    names: Sequence[str], tokenizer: Any, max_length: int, device: str | None = None
) -> tuple[list[nn.Module], list[str]]:
    """The models of readers named as `load_reader` takes them, and their digests.

    ModelRejected for one that cannot read what the student does: another tokenizer, or too few positions.
    """
    readers = [load_reader(name, device) for name in names]
    for name, reader in zip(names, readers, strict=True):
        if not same_tokens(reader.tokenizer, tokenizer):
            raise ModelRejected(f"{name} has another tokenizer than the student, so it cannot teach it")
        if reader.max_length < min(max_length, MAX_LENGTH):
            raise ModelRejected(
                f"{name} reads {reader.max_length} tokens at once, the student learns from {max_length}"
            )
    return [reader.model.eval() for reader in readers], [reader.digest for reader in readers]


def same_tokens(one: Any, other: Any) -> bool:
    """Whether two tokenizers make the same ids of a text, and put the same ones around two."""
    return (
        one.get_vocab() == other.get_vocab()
        and special_tokens(one) == special_tokens(other)
        and one(_PROBE, verbose=False)["input_ids"] == other(_PROBE, verbose=False)["input_ids"]
    )
