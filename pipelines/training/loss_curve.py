"""The progress of a training run in one line."""

from __future__ import annotations

from pathlib import Path

from ...models.training_history import read_history

RUN = "run"


def loss_line(out: Path) -> str:
    """The steps and the loss of the checkpoint in `out/run`: "1,234 of 2,000 steps, loss 0.1234"."""
    history = read_history(out / RUN)
    if not history.losses:
        return f"0 of {history.steps:,} steps"
    recent = history.losses[-max(1, history.steps // 50) :]
    done = len(history.losses)
    of = f"{done:,} steps" if done == history.steps else f"{done:,} of {history.steps:,} steps"
    return f"{of}, loss {sum(recent) / len(recent):.4f}"
