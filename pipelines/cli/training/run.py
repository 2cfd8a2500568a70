"""What a training run reads and tells: its lists, its loss, its evaluations."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

from ..terminal import print_json, progress, say

if TYPE_CHECKING:
    from ....models.training import Progress
    from ...training.model_card import Trained


def read_lists(path: Path) -> list[RankingExample]:
    """The examples of a `lists.jsonl`, or of a folder with one; DataMalformed for none."""
    from ...training.examples import open_examples

    examples = list(open_examples(path))
    if not examples:
        raise DataMalformed(f"{path}: holds no question with a passage that answers it")
    return examples


@contextmanager
def told_run(out: Path) -> Iterator[Callable[[Progress], None]]:
    """A reporter of steps; at Ctrl-C says where the run is kept."""
    from ...training.record import RUN

    try:
        with progress() as report:
            yield lambda p: report("steps", p.step, p.steps)
    except KeyboardInterrupt:
        if any((out / RUN).glob("checkpoint.*")):
            say(f"stopped; the same command resumes from {out / RUN}")
        raise


def show_trained(
    out: Path,
    trained: Trained,
    data: Sequence[Path],
    use: str,
    evaluations: Sequence[Mapping[str, float]],
    json: bool,
    digits: int = 4,
) -> None:
    """Writes the model card and prints the figures of each evaluation; `use` is a command for the model."""
    from ...training.model_card import Training, write_card

    command = shlex.join(["spanwise", *sys.argv[1:]])
    if not write_card(out, Training(trained, command, data, use)):
        say(f"{out / 'README.md'} is left as it is; to have a new model card, remove it first")
    if json:
        print_json({"out": str(out), "evaluations": list(evaluations)})
        return
    for figures in evaluations:
        print("  ".join(f"{name} {_figure(name, value, digits)}" for name, value in figures.items()))
    say(f"written to {out}; use it with: {use}")


def _figure(name: str, value: float, digits: int) -> str:
    return f"{value:.0f}" if name == "step" else f"{value:.{digits}f}"
