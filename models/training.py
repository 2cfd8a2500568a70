"""The training loop that every head shares: AdamW, linear warm-up and decay, resumable, no surprises.

Follows Devlin et al. 2019 (appendix A.2): AdamW, weight decay 0.01, warm-up over the first 10 % of the
steps, then linear decay to zero. Checkpoints are safetensors and JSON; a run that was interrupted goes
on with the same batches, the same learning rates and the same generator states. Ctrl-C ends a run after
the step that it is in, with a checkpoint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor, nn

from .explicit_attention import explicit_attention
from .held_interrupt import held_interrupt
from .training_run import Run

Batch = TypeVar("Batch")
M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of one run; `learning_rate` is the peak, reached after the warm-up.

    The gradients of `accumulate` batches make one step, each batch counting the same; the last step may have
    fewer. `checkpoint_every` and the schedule count steps. `layer_decay` below 1 changes lower layers less
    (`layer_rates`); with `average` above 0 a moving average of the weights is evaluated and kept
    (`weight_average`). With `patience` above 0 so many evaluations in a row without a better figure end
    the run.
    """

    learning_rate: float = 2e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    seed: int = 0
    checkpoint_every: int = 500
    evaluate_at: tuple[float, ...] = (0.5, 0.75, 1.0)
    accumulate: int = 1
    layer_decay: float = 1.0
    average: float = 0.0
    patience: int = 0

    def __post_init__(self) -> None:
        """Refuse a step of no batch, and decays that are none."""
        if self.accumulate < 1:
            raise ValueError(f"accumulate must be 1 or more, not {self.accumulate}")
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"layer_decay must be above 0 and at most 1, not {self.layer_decay}")
        if not 0 <= self.average < 1:
            raise ValueError(f"average must be at least 0 and below 1, not {self.average}")
        if self.patience < 0:
            raise ValueError(f"patience must be 0 or more, not {self.patience}")


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands, told after every step."""

    step: int
    steps: int
    loss: float
    learning_rate: float
    seconds: float


def linear_schedule(step: int, steps: int, peak: float, warmup: float = 0.1) -> float:
    """The learning rate of a step: linear from 0 to `peak` over the warm-up, then linear to 0.

    >>> [round(linear_schedule(step, 1000, 3e-5), 7) for step in (0, 50, 100, 550, 1000)]
    [0.0, 1.5e-05, 3e-05, 1.5e-05, 0.0]
    """
    rise = warmup * steps
    if step < rise:
        return peak * step / rise
    return peak * max(0.0, (steps - step) / max(1.0, steps - rise))


def evenly(n: int) -> tuple[float, ...]:
    """Where in a run n evaluations lie that are evenly spaced, the last at its end, for `evaluate_at`.

    >>> evenly(4)
    (0.25, 0.5, 0.75, 1.0)
    """
    return tuple(at / n for at in range(1, n + 1))


def train(
    model: nn.Module,
    batches: Sequence[Batch],
    loss: Callable[[nn.Module, Batch], Tensor],
    recipe: Recipe,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    select_by: str,
    report: Callable[[Progress], None] = lambda progress: None,
    beside: Mapping[str, Any] | None = None,
) -> list[dict[str, float]]:
    """Trains the parameters that require a gradient, leaves the best evaluated weights in `model`.

    `batches` is the whole run in order, so that its length fixes the schedule. `folder` receives
    `checkpoint.safetensors` (weights, optimizer, generator, and in its metadata the losses and the
    evaluations) and `best.safetensors`; started again with the same folder
    the run resumes. "Best" is the highest `select_by`, the later evaluation winning a tie. `beside` is what
    else makes it another run when it changes: what the loss depends on, as JSON values.
    """
    groups = [batches[at : at + recipe.accumulate] for at in range(0, len(batches), recipe.accumulate)]
    state = Run(model, len(groups), recipe, folder, beside)
    due = {max(1, math.ceil(part * len(groups))) for part in recipe.evaluate_at}
    started = time.monotonic()
    try:
        with explicit_attention(model):
            if state.step in due - state.evaluated_at:  # interrupted between a step and its evaluation
                state.evaluate(evaluate, select_by)
            while state.step < len(groups) and not state.gave_up(select_by):
                rate = linear_schedule(state.step + 1, len(groups), recipe.learning_rate, recipe.warmup)
                with held_interrupt():
                    value = state.one_step(loss, groups[state.step], rate)
                report(Progress(state.step, len(groups), value, rate, time.monotonic() - started))
                if state.step in due:
                    state.evaluate(evaluate, select_by)
                if state.step % recipe.checkpoint_every == 0 or state.step == len(groups):
                    state.save()
    except KeyboardInterrupt:
        state.save()
        raise
    state.restore_best()
    model.eval()
    return state.evaluations


def freeze_word_embeddings(model: nn.Module) -> None:
    """Leaves the word embeddings as the base has them: they are half of the weights and are shared."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.endswith("word_embeddings.weight")


def set_dropout(model: nn.Module, p: float) -> None:
    """Sets the dropout probability of every dropout layer."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = p


def own_memory(model: M) -> M:
    """The model with weights of its own: those of a loaded one lie in a mapped file."""
    for parameter in model.parameters():
        parameter.data = parameter.data.clone()
    model.requires_grad_(True)
    return model
