"""A small run of the training loop (model, batches, loss, evaluation) and a few ranking examples."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from spanwise.models.training import TrainingConfig
from spanwise.types import RankingExample

BATCHES = [torch.full((4, 3), float(i % 5)) + torch.arange(3.0) for i in range(12)]
RECIPE = TrainingConfig(learning_rate=0.05, checkpoint_every=4, evaluate_at=(0.5, 1.0))


def a_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))


def loss(model: nn.Module, batch: Tensor) -> Tensor:
    return ((model(batch).float() - batch.sum(dim=1, keepdim=True)) ** 2).mean()


def evaluate(model: nn.Module) -> dict[str, float]:
    with torch.no_grad():
        return {"score": -float(loss(model, BATCHES[3]))}


MILL = "The mill\nIt was built in 1811."
TRAM = "A tram line."
WEIR = "Weir\nWater."
PLAIN = [
    RankingExample("who built the mill", (MILL, TRAM, WEIR)),
    RankingExample("when does the tram run", (TRAM, WEIR)),
    RankingExample("where is water", (WEIR, MILL, TRAM), 2),
]
SCORED = [
    replace(PLAIN[0], scores=(9.25, 3.1, -0.8)),
    replace(PLAIN[1], scores=(2.5, -1.0)),
    replace(PLAIN[2], scores=(1.0, 0.5, -2.25)),
]
