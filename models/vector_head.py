"""What follows the pooling, or the state of a token: linear layers, then vectors of length 1.

The cosine of two is what is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .inner_product import AVERAGES, bound_of, passage_vectors, question_vectors
from .tower import Side, Tower


class VectorHead(nn.Module):
    """(B, width) float32 unit vectors from pooled states (B, n_in) float32.

    Compared by cosine (`bound` is None), both sides are normalised. Compared by inner product, they get one
    more number, in which passages keep their length: see `inner_product`.
    """

    def __init__(
        self,
        n_in: int,
        layers: Sequence[nn.Sequential] = (),
        bound: float | None = None,
        side: Side = "passage",
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.bound, self.side = bound, side
        self.width = (_sizes(layers[-1])[1] if layers else n_in) + (bound is not None)

    @classmethod
    def of_tower(cls, tower: Tower, side: Side, trunk: nn.Module, projection: nn.Module | None) -> VectorHead:
        """The head of that side behind a loaded transformer; `projection` stands before the tower's layers.

        ModelRejected when sizes do not fit, or inner products of vectors without a bound are asked for.
        """
        config: Any = trunk.config
        n_in: int = config.hidden_size
        layers = [nn.Sequential(projection, nn.Identity())] if projection is not None else []
        layers += [layer.load() for layer in tower.layers]
        check_sizes(n_in, layers, tower.folder)
        if tower.inner_product and tower.pooling not in AVERAGES:
            raise ModelRejected(f"{tower.folder}: inner products with pooling {tower.pooling} have no bound")
        return cls(n_in, layers, bound_of(trunk, layers) if tower.inner_product else None, side)

    def forward(self, pooled: Tensor) -> Tensor:
        """See the class; ModelRejected for a passage that is longer than the bound."""
        for layer in self.layers:
            pooled = layer(pooled)
        if self.bound is None:
            return nn.functional.normalize(pooled, dim=1)
        if self.side == "question":
            return question_vectors(pooled)
        return passage_vectors(pooled, self.bound)


def check_sizes(n_in: int, layers: Sequence[nn.Sequential], source: object) -> None:
    """Raises ModelRejected unless each layer takes as many numbers as come out of what stands before it."""
    width = n_in
    for layer in layers:
        if _sizes(layer)[0] != width:
            raise ModelRejected(f"{source}: {width} numbers go into a layer for {_sizes(layer)[0]}")
        width = _sizes(layer)[1]


def _sizes(layer: nn.Sequential) -> tuple[int, int]:
    linear: nn.Linear = layer[0]  # type: ignore[assignment]
    return linear.in_features, linear.out_features
