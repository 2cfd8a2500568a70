"""The state of one run of the training loop: steps, evaluations, and the checkpoint that it resumes from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from .held_interrupt import held_interrupt
from .layer_rates import parameter_groups
from .precision import autocast
from .training_history import CHECKPOINT, read_run
from .weight_average import KEY, WeightAverage

if TYPE_CHECKING:
    from .training import Recipe

BEST = "best.safetensors"
# What checkpoints of older versions do not name.
DEFAULTS = {"accumulate": 1, "layer_decay": 1.0, "average": 0.0, "patience": 0}


class Run:
    """What goes into a checkpoint; made where one lies, it goes on from there."""

    def __init__(
        self,
        model: nn.Module,
        steps: int,
        recipe: Recipe,
        folder: Path,
        beside: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.recipe, self.folder = model, recipe, folder
        self.step, self.evaluations, self.losses = 0, [], []
        self.trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
        groups = parameter_groups(self.trainable, recipe.weight_decay, recipe.layer_decay)
        self.optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)
        self.average = WeightAverage(self.trainable, recipe.average)
        self.fingerprint = {
            "recipe": json.loads(json.dumps(asdict(recipe))),
            "steps": steps,
            "start": self._digest(),
            "beside": json.loads(json.dumps(dict(beside or {}))),
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
        """The steps after which it was evaluated."""
        return {int(figures["step"]) for figures in self.evaluations}

    def gave_up(self, select_by: str) -> bool:
        """Whether as many evaluations as the recipe is patient for have brought nothing better."""
        figures = [evaluation[select_by] for evaluation in self.evaluations]
        since = len(figures) - 1 - figures.index(max(figures)) if figures else 0
        return 0 < self.recipe.patience <= since

    def one_step(
        self, loss: Callable[[nn.Module, Any], Tensor], batches: Sequence[Any], rate: float
    ) -> float:
        """Changes the weights once, by the mean gradient of these batches; the loss, which must be finite."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        total = self._backward(loss, batches)
        nn.utils.clip_grad_norm_(self.trainable.values(), self.recipe.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.average.update(self.step)
        self.losses.append(total)
        if not math.isfinite(self.losses[-1]):
            raise FloatingPointError(
                f"the loss of step {self.step} is {self.losses[-1]}: lower the learning rate"
            )
        return self.losses[-1]

    def _backward(self, loss: Callable[[nn.Module, Any], Tensor], batches: Sequence[Any]) -> float:
        """Adds the gradients of the mean loss of the batches to those of the model; returns that mean."""
        device, total = next(self.model.parameters()).device, 0.0
        for batch in batches:
            with autocast(device):
                value = loss(self.model, batch) / len(batches)
            value.backward()
            total += float(value.detach())
        return total

    def evaluate(self, measured: Callable[[nn.Module], Mapping[str, float]], select_by: str) -> None:
        """Measures the averaged weights, and keeps them where nothing before was better."""
        self.model.eval()
        with self.average.in_place():
            figures = dict(measured(self.model))
            averaged = self._weights()
        self.model.train()
        with held_interrupt():
            best = max((e[select_by] for e in self.evaluations), default=-math.inf)
            if figures[select_by] >= best:
                save_file(averaged, self.folder / BEST)
            self.evaluations.append({"step": self.step, **figures})
            self.save()

    def save(self) -> None:
        """Writes the checkpoint over the last one."""
        tensors = {**self._weights(), **self.average.tensors()}
        for name, parameter in self.trainable.items():
            for key, value in self.optimizer.state[parameter].items():
                tensors[f"{name}:{key}"] = value.detach().cpu().contiguous().clone()
        tensors["generator:torch"] = torch.get_rng_state()
        run = {**self.fingerprint, "step": self.step, "evaluations": self.evaluations, "losses": self.losses}
        save_file(tensors, self.folder / "checkpoint.new", metadata={"run": json.dumps(run)})
        (self.folder / "checkpoint.new").replace(self.folder / CHECKPOINT)

    def restore_best(self) -> None:
        """Puts the best evaluated weights into the model."""
        if (self.folder / BEST).is_file():
            self._load(load_file(self.folder / BEST))

    def _resume(self, path: Path) -> None:
        run = read_run(path)
        run["recipe"], run["beside"] = {**DEFAULTS, **run["recipe"]}, run.get("beside", {})
        if {key: run.get(key, value) for key, value in self.fingerprint.items()} != self.fingerprint:
            raise ValueError(
                f"{self.folder} holds a run with other settings: name another folder or remove it"
            )
        tensors = load_file(path)
        self._load(tensors)
        self.average.load(tensors)
        for name, parameter in self.trainable.items():
            prefix = f"{name}:"
            self.optimizer.state[parameter] = {
                key.removeprefix(prefix): value.to(parameter.device)
                for key, value in tensors.items()
                if key.startswith(prefix) and key != prefix + KEY
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
