"""Who computes the gradients of a step: this process alone, several GPUs of it, or several processes.

A step's batches are shared out and the gradients of their mean loss added up, so that the result does not
depend on who computed what beyond the rounding of sums. It is the recipe that says how many batches a step
has (`accumulate`), not the machine: a run that was begun on one device goes on on another number of them.
With dropout the devices draw different masks.

Several processes are those that `torchrun` starts. All take the same steps; the first one evaluates, writes,
and alone goes on when the training ends.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from .dispatch import spread
from .precision import autocast, spread_devices

Loss = Callable[[nn.Module, Any], Tensor]
EVALUATION = timedelta(hours=2)  # the longest that others wait for the first process


class Workers(Protocol):
    """`is_first` is true for the process that evaluates and writes, `count` how many share the work."""

    is_first: bool
    count: int

    def backward(self, model: nn.Module, loss: Loss, batches: Sequence[Any]) -> float:
        """Adds the gradients of the mean loss of the batches to those of the model; that mean."""

    def told(self, figures: Callable[[], dict[str, float]]) -> dict[str, float]:
        """What the first process finds, in all of them."""


def workers_for(model: nn.Module, n_batches: int) -> Workers:
    """All there are: the processes of `torchrun`, else the visible GPUs, else the model's own device.

    `n_batches` is how many batches a step has; ValueError when a process would have none.
    """
    device = next(model.parameters()).device
    n_processes = int(os.environ.get("WORLD_SIZE", "1"))
    if n_processes > 1:
        if n_batches < n_processes:
            raise ValueError(
                f"{n_processes} processes share {n_batches} batches a step: "
                f"accumulate must be {n_processes} or more"
            )
        return Processes(device)
    devices = spread_devices(device)[:n_batches]
    return Replicas(model, [torch.device(one) for one in devices]) if len(devices) > 1 else Alone()


class Alone:
    """One device."""

    is_first, count = True, 1

    def backward(self, model: nn.Module, loss: Loss, batches: Sequence[Any]) -> float:
        """One batch after the other."""
        return _backward(model, loss, batches, len(batches))

    def told(self, figures: Callable[[], dict[str, float]]) -> dict[str, float]:
        """What is found."""
        return figures()


class Processes:
    """The processes of `torchrun`, each with a device and a model of its own; all begin with equal ones."""

    def __init__(self, device: torch.device) -> None:
        if not torch.distributed.is_initialized():
            kind = "nccl" if device.type == "cuda" else "gloo"
            torch.distributed.init_process_group(kind, timeout=EVALUATION)
        self.device, self.rank = device, torch.distributed.get_rank()
        self.is_first, self.count = self.rank == 0, torch.distributed.get_world_size()

    def backward(self, model: nn.Module, loss: Loss, batches: Sequence[Any]) -> float:
        """Each takes every n-th batch; then the gradients and losses of all are added up."""
        total = _backward(model, loss, batches[self.rank :: self.count], len(batches))
        for parameter in model.parameters():
            if parameter.requires_grad:
                if parameter.grad is None:  # it had no batch left
                    parameter.grad = torch.zeros_like(parameter)
                torch.distributed.all_reduce(parameter.grad)
        losses = torch.tensor([total], dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(losses)
        return float(losses)

    def told(self, figures: Callable[[], dict[str, float]]) -> dict[str, float]:
        """As JSON, its length first; nobody begins before all are there."""
        torch.distributed.barrier()
        said = json.dumps(figures()).encode() if self.is_first else b""
        length = torch.tensor([len(said)], device=self.device)
        torch.distributed.broadcast(length, 0)
        text = torch.zeros(int(length), dtype=torch.uint8, device=self.device)
        if self.is_first:
            text.copy_(torch.frombuffer(bytearray(said), dtype=torch.uint8))
        torch.distributed.broadcast(text, 0)
        found: dict[str, float] = json.loads(bytes(text.cpu().tolist()))
        return found


class Replicas:
    """Several devices of this process, each with a copy of the model."""

    is_first = True

    def __init__(self, model: nn.Module, devices: Sequence[torch.device]) -> None:
        self.copies = [copy.deepcopy(model).to(device) for device in devices[1:]]
        self.count = len(devices)

    def backward(self, model: nn.Module, loss: Loss, batches: Sequence[Any]) -> float:
        """Each device takes every n-th batch; the model takes over the gradients of its copies."""
        models = [model, *self.copies]
        self._spread_weights(model)
        shares = [batches[at :: self.count] for at in range(self.count)]
        busy = [(one, share) for one, share in zip(models, shares, strict=True) if share]

        def work(job: tuple[nn.Module, Sequence[Any]]) -> float:
            return _backward(job[0], loss, job[1], len(batches))

        total = sum(found for _, found in spread(busy, [work] * len(busy)))
        self._gather_gradients(model)
        return total

    @torch.no_grad()
    def _spread_weights(self, model: nn.Module) -> None:
        for one in self.copies:
            one.train(model.training)
            for theirs, own in zip(one.parameters(), model.parameters(), strict=True):
                if own.requires_grad:
                    theirs.copy_(own)

    @torch.no_grad()
    def _gather_gradients(self, model: nn.Module) -> None:
        for one in self.copies:
            for theirs, own in zip(one.parameters(), model.parameters(), strict=True):
                if theirs.grad is not None:
                    given = theirs.grad.to(own.device)
                    own.grad = given if own.grad is None else own.grad.add_(given)
                    theirs.grad = None

    def told(self, figures: Callable[[], dict[str, float]]) -> dict[str, float]:
        """What is found."""
        return figures()


def _backward(model: nn.Module, loss: Loss, batches: Sequence[Any], of: int) -> float:
    """Adds the gradients of the sum of these losses, each divided by `of`; that sum."""
    device = next(p for p in model.parameters() if p.requires_grad).device
    total = 0.0
    for batch in batches:
        with autocast(device):
            value = loss(model, batch) / of
        value.backward()
        total += float(value.detach())
    return total
