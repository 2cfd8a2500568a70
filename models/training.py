"""The training loop that every head shares: AdamW, linear warm-up and decay, resumable, no surprises.

Follows Devlin et al. 2019 (appendix A.2): AdamW, weight decay 0.01, warm-up over the first 10 % of the
steps, then linear decay to zero. Checkpoints are safetensors and JSON; a run that was interrupted goes
on with the same batches, the same learning rates and the same generator states. Ctrl-C ends a run after
the step that it is in, with a checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from .held_interrupt import held_interrupt
from .precision import autocast
from .training_history import CHECKPOINT, read_run

Batch = TypeVar("Batch")
M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of one run; `learning_rate` is the peak, reached after the warm-up.

    The gradients of `accumulate` batches make one step, each batch counting the same; the last step may have
    fewer. `checkpoint_every` and the schedule count steps.
    """

    learning_rate: float = 2e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    seed: int = 0
    checkpoint_every: int = 500
    evaluate_at: tuple[float, ...] = (0.5, 0.75, 1.0)
    accumulate: int = 1

    def __post_init__(self) -> None:
        """Refuse a step of no batch."""
        if self.accumulate < 1:
            raise ValueError(f"accumulate must be 1 or more, not {self.accumulate}")


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


def train(
    model: nn.Module,
    batches: Sequence[Batch],
    loss: Callable[[nn.Module, Batch], Tensor],
    recipe: Recipe,
    folder: Path,
    evaluate: Callable[[nn.Module], Mapping[str, float]],
    select_by: str,
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains the parameters that require a gradient, leaves the best evaluated weights in `model`.

    `batches` is the whole run in order, so that its length fixes the schedule. `folder` receives
    `checkpoint.safetensors` (weights, optimizer, generator, and in its metadata the losses and the
    evaluations) and `best.safetensors`; started again with the same folder
    the run resumes. "Best" is the highest `select_by`, the later evaluation winning a tie.
    """
    groups = [batches[at : at + recipe.accumulate] for at in range(0, len(batches), recipe.accumulate)]
    state = _Run(model, len(groups), recipe, folder)
    due = {max(1, math.ceil(part * len(groups))) for part in recipe.evaluate_at}
    started = time.monotonic()
    try:
        if state.step in due - state.evaluated_at:  # interrupted between a step and its evaluation
            state.evaluate(evaluate, select_by)
        while state.step < len(groups):
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


class _Run:
    """The state of a run that goes into a checkpoint."""

    def __init__(self, model: nn.Module, steps: int, recipe: Recipe, folder: Path) -> None:
        self.model, self.recipe, self.folder = model, recipe, folder
        self.step, self.evaluations, self.losses = 0, [], []
        self.trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
        decayed = [p for p in self.trainable.values() if p.dim() >= 2]
        plain = [p for p in self.trainable.values() if p.dim() < 2]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": recipe.weight_decay},
                {"params": plain, "weight_decay": 0.0},
            ],
            lr=recipe.learning_rate,
            fused=True,
        )
        self.fingerprint = {
            "recipe": json.loads(json.dumps(asdict(recipe))),
            "steps": steps,
            "start": self._digest(),
        }
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(recipe.seed)
        if (folder / CHECKPOINT).is_file():
            self._resume(folder / CHECKPOINT)
        model.train()

    evaluations: list[dict[str, float]]
    losses: list[float]

    @property
    def evaluated_at(self) -> set[int]:
        return {int(figures["step"]) for figures in self.evaluations}

    def one_step(
        self, loss: Callable[[nn.Module, Any], Tensor], batches: Sequence[Any], rate: float
    ) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        device = next(iter(self.trainable.values())).device
        total = 0.0
        for batch in batches:
            with autocast(device):
                value = loss(self.model, batch) / len(batches)
            value.backward()
            total += float(value.detach())
        nn.utils.clip_grad_norm_(self.trainable.values(), self.recipe.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.losses.append(total)
        if not math.isfinite(self.losses[-1]):
            raise FloatingPointError(
                f"the loss of step {self.step} is {self.losses[-1]}: lower the learning rate"
            )
        return self.losses[-1]

    def evaluate(self, measured: Callable[[nn.Module], Mapping[str, float]], select_by: str) -> None:
        self.model.eval()
        figures = dict(measured(self.model))
        self.model.train()
        with held_interrupt():
            best = max((e[select_by] for e in self.evaluations), default=-math.inf)
            if figures[select_by] >= best:
                save_file(self._weights(), self.folder / "best.safetensors")
            self.evaluations.append({"step": self.step, **figures})
            self.save()

    def save(self) -> None:
        tensors = self._weights()
        for name, parameter in self.trainable.items():
            for key, value in self.optimizer.state[parameter].items():
                tensors[f"{name}:{key}"] = value.detach().cpu().contiguous().clone()
        tensors["generator:torch"] = torch.get_rng_state()
        run = {**self.fingerprint, "step": self.step, "evaluations": self.evaluations, "losses": self.losses}
        save_file(tensors, self.folder / "checkpoint.new", metadata={"run": json.dumps(run)})
        (self.folder / "checkpoint.new").replace(self.folder / CHECKPOINT)

    def restore_best(self) -> None:
        if (self.folder / "best.safetensors").is_file():
            self._load(load_file(self.folder / "best.safetensors"))

    def _resume(self, path: Path) -> None:
        run = read_run(path)
        run["recipe"] = {"accumulate": 1, **run["recipe"]}  # which older checkpoints do not name
        if {key: run.get(key, value) for key, value in self.fingerprint.items()} != self.fingerprint:
            raise ValueError(
                f"{self.folder} holds a run with other settings: name another folder or remove it"
            )
        tensors = load_file(path)
        self._load(tensors)
        for name, parameter in self.trainable.items():
            prefix = f"{name}:"
            self.optimizer.state[parameter] = {
                key.removeprefix(prefix): value.to(parameter.device)
                for key, value in tensors.items()
                if key.startswith(prefix)
            }
        torch.set_rng_state(tensors["generator:torch"])
        self.step, self.evaluations, self.losses = run["step"], run["evaluations"], run["losses"]

    def _digest(self) -> str:
        """Of the weights that the run starts from: with others it would be another run."""
        found = hashlib.sha256()
        for name, tensor in self._weights().items():
            found.update(name.encode())
            found.update(tensor.numpy().data)
        return found.hexdigest()

    def _weights(self) -> dict[str, Tensor]:
        return {name: p.detach().cpu().contiguous().clone() for name, p in self.trainable.items()}

    @torch.no_grad()
    def _load(self, tensors: Mapping[str, Tensor]) -> None:
        for name, parameter in self.trainable.items():
            parameter.copy_(tensors[name])


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
