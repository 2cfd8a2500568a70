"""The training loop that every head shares: AdamW, linear warm-up and decay, resumable, no surprises.

Follows Devlin et al. 2019 (appendix A.2): AdamW, weight decay 0.01, warm-up over the first 10 % of the
steps, then linear decay to zero. Checkpoints are safetensors and JSON; a run that was interrupted goes
on with the same batches, the same learning rates and the same generator states.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from .precision import autocast

Batch = TypeVar("Batch")
M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of one run; `learning_rate` is the peak, reached after the warm-up."""

    learning_rate: float = 2e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    seed: int = 0
    checkpoint_every: int = 500
    evaluate_at: tuple[float, ...] = (0.5, 0.75, 1.0)


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
    state = _Run(model, batches, recipe, folder)
    due = {max(1, math.ceil(part * len(batches))) for part in recipe.evaluate_at}
    started = time.monotonic()
    for step in range(state.step, len(batches)):
        rate = linear_schedule(step + 1, len(batches), recipe.learning_rate, recipe.warmup)
        value = state.one_step(loss, batches[step], rate)
        report(Progress(step + 1, len(batches), value, rate, time.monotonic() - started))
        if step + 1 in due:
            model.eval()
            state.evaluated(dict(evaluate(model)), select_by)
            model.train()
        if (step + 1) % recipe.checkpoint_every == 0 or step + 1 == len(batches):
            state.save()
    state.restore_best()
    model.eval()
    return state.evaluations


class _Run:
    """The state of a run that goes into a checkpoint."""

    def __init__(self, model: nn.Module, batches: Sequence[Any], recipe: Recipe, folder: Path) -> None:
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
        self.fingerprint = {"recipe": json.loads(json.dumps(asdict(recipe))), "steps": len(batches)}
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(recipe.seed)
        if (folder / "checkpoint.safetensors").is_file():
            self._resume(folder / "checkpoint.safetensors")
        model.train()

    evaluations: list[dict[str, float]]
    losses: list[float]

    def one_step(self, loss: Callable[[nn.Module, Any], Tensor], batch: Any, rate: float) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        device = next(iter(self.trainable.values())).device
        with autocast(device):
            value = loss(self.model, batch)
        value.backward()
        nn.utils.clip_grad_norm_(self.trainable.values(), self.recipe.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.losses.append(float(value.detach()))
        if not math.isfinite(self.losses[-1]):
            raise FloatingPointError(
                f"the loss of step {self.step} is {self.losses[-1]}: lower the learning rate"
            )
        return self.losses[-1]

    def evaluated(self, figures: dict[str, float], select_by: str) -> None:
        best = max((e[select_by] for e in self.evaluations), default=-math.inf)
        self.evaluations.append({"step": self.step, **figures})
        if figures[select_by] >= best:
            save_file(self._weights(), self.folder / "best.safetensors")
        self.save()

    def save(self) -> None:
        tensors = self._weights()
        for name, parameter in self.trainable.items():
            for key, value in self.optimizer.state[parameter].items():
                tensors[f"{name}:{key}"] = value.detach().cpu().contiguous().clone()
        tensors["generator:torch"] = torch.get_rng_state()
        run = {**self.fingerprint, "step": self.step, "evaluations": self.evaluations, "losses": self.losses}
        save_file(tensors, self.folder / "checkpoint.new", metadata={"run": json.dumps(run)})
        (self.folder / "checkpoint.new").replace(self.folder / "checkpoint.safetensors")

    def restore_best(self) -> None:
        if (self.folder / "best.safetensors").is_file():
            self._load(load_file(self.folder / "best.safetensors"))

    def _resume(self, path: Path) -> None:
        with safe_open(path, framework="pt") as file:
            run = json.loads(file.metadata()["run"])
        if {key: run.get(key) for key in self.fingerprint} != self.fingerprint:
            raise ValueError(
                f"{self.folder} holds a run with other settings: name another folder or remove it"
            )
        tensors = load_file(path)
        self._load(tensors)
        for name, parameter in self.trainable.items():
            prefix = f"{name}:"
            self.optimizer.state[parameter] = {
                key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)
            }
        torch.set_rng_state(tensors["generator:torch"])
        self.step, self.evaluations, self.losses = run["step"], run["evaluations"], run["losses"]

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
