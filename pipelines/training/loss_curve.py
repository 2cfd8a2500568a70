"""The loss curve of a run, drawn beside its record."""

from __future__ import annotations

from pathlib import Path

from ...eval.report.line_chart import HEIGHT
from ...eval.report.loss_chart import loss_chart
from ...eval.report.sparkline import sparkline
from ...eval.report.standalone import standalone
from ...models.training_history import read_history

RUN, CURVE = "run", "loss.svg"


def write_loss_curve(out: Path) -> Path:
    """Draws `out/loss.svg` from the checkpoint in `out/run`, of a finished or an unfinished run."""
    history = read_history(out / RUN)
    chart = loss_chart(f"Loss of {out.name}", history.losses, history.evaluations, history.steps)
    path = out / CURVE
    path.write_text(standalone(chart, HEIGHT), encoding="utf-8")
    return path


def loss_line(out: Path) -> str:
    """The same in one line: "1,234 of 2,000 steps, loss █▅▃▂▁▁, now 0.1234"."""
    history = read_history(out / RUN)
    if not history.losses:
        return f"0 of {history.steps:,} steps"
    recent = history.losses[-max(1, history.steps // 50) :]
    done = len(history.losses)
    of = f"{done:,} steps" if done == history.steps else f"{done:,} of {history.steps:,} steps"
    return f"{of}, loss {sparkline(history.losses)}, now {sum(recent) / len(recent):.4f}"
