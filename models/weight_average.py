"""The exponential moving average of the weights of a run, which is what is evaluated and kept.

    mean <- d * mean + (1 - d) * weights,   d = min(decay, (1 + step) / (10 + step))

The smaller d of the first steps forgets where the run began.

Source: Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992; the form with one
decay is that of Tarvainen and Valpola, "Mean teachers are better role models", 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

KEY = "average"  # in a checkpoint, behind the name of a weight


class WeightAverage:
    """The mean of `parameters`, by name; with a decay of 0 it is the parameters themselves, and free."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], decay: float) -> None:
        if not 0 <= decay < 1:
            raise ValueError(f"the decay of the average must be from 0 up to, not including, 1, not {decay}")
        self._parameters, self._decay = parameters, decay
        self._means = {name: p.detach().clone() for name, p in parameters.items()} if decay else {}

    def update(self, step: int) -> None:
        """Takes in the weights after `step`, counted from 1."""
        decay = min(self._decay, (1 + step) / (10 + step))
        for name, mean in self._means.items():
            mean.lerp_(self._parameters[name].detach(), 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The parameters are the mean inside, and what they were again behind."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def tensors(self) -> dict[str, Tensor]:
        """For a checkpoint."""
        return {f"{name}:{KEY}": mean.cpu().contiguous().clone() for name, mean in self._means.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """From a checkpoint."""
        for name, mean in self._means.items():
            mean.copy_(tensors[f"{name}:{KEY}"])

    @torch.no_grad()
    def _swap(self) -> None:
        for name, mean in self._means.items():
            held = self._parameters[name].detach().clone()
            self._parameters[name].copy_(mean)
            mean.copy_(held)
