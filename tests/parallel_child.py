"""One of several processes that train together: `parallel_child.py FOLDER ACCUMULATE`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from made_training import BATCHES, RECIPE, evaluate, loss
from torch import manual_seed, nn

from spanwise.models.training import train


def model() -> nn.Module:
    manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))


if __name__ == "__main__":
    folder, accumulate = Path(sys.argv[1]), int(sys.argv[2])
    recipe = replace(RECIPE, accumulate=accumulate)
    train(model(), BATCHES[:11], loss, recipe, folder, evaluate, "score")
    (folder / "ended").write_text("by the first process")
