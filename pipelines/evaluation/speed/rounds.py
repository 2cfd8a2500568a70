"""One comparison: its engines start, are checked, and are measured in turns, A B C A B C …"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from spanwise.types import ProgressCallback, no_progress

from .comparisons import Comparison
from .corpus import Corpus
from .process import EngineFailed, EngineProcess
from .registry import Entrant
from .row import Measured, Row, overlap
from .settings import Settings

WARM_UP_PARAGRAPHS = 16
LEAST_S = 0.2  # a round of questions lasts at least so long
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An engine that gave no figure in a comparison, and why."""

    name: str
    engine: str
    reason: str
    is_ours: bool

    def __str__(self) -> str:
        """In one line."""
        return f"{self.name}: {self.engine} is left out: {self.reason}"


@dataclass(slots=True)
class Rounds:
    """The engines of a comparison that are still in it, and those that are out."""

    comparison: Comparison
    processes: list[EngineProcess]
    left_out: list[LeftOut] = field(default_factory=list)

    def each(self, work: Callable[[EngineProcess], T]) -> dict[str, T]:
        """What `work` gives for each engine, one after the other, by name; who fails is out from then on."""
        done = {}
        for process in list(self.processes):
            try:
                done[process.entrant.name] = work(process)
            except EngineFailed as error:
                entrant = process.entrant
                out = LeftOut(self.comparison.name, entrant.name, str(error), entrant.is_ours)
                self.left_out.append(out)
                self.processes.remove(process)
        return done

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """The answers of all engines to one request."""
        return self.each(lambda process: process.ask(do, **arguments))


def compare(
    comparison: Comparison,
    entrants: Sequence[Entrant],
    corpus: Corpus,
    folder: Path,
    settings: Settings,
    report: ProgressCallback = no_progress,
) -> tuple[list[Row], list[LeftOut]]:
    """Our engine beside each peer that came through, and those that did not.

    `folder` is empty; what the engines write there, and the corpus, stays until the caller removes it.
    """
    corpus.save(folder)
    with ExitStack() as stack:
        processes = []
        for number, one in enumerate(entrants):
            own = folder / str(number)
            own.mkdir()
            processes.append(stack.enter_context(EngineProcess(one, folder, own, settings.threads)))
        rounds = Rounds(comparison, processes)
        measured = _measure(rounds, corpus, settings, report)
    ours = next((m for one, m in measured.items() if one.is_ours), None)
    peers = [(one.name, m) for one, m in measured.items() if not one.is_ours]
    rows = [] if ours is None else [Row(comparison, name, ours, peer) for name, peer in peers]
    return rows, rounds.left_out


def _measure(
    rounds: Rounds, corpus: Corpus, settings: Settings, report: ProgressCallback
) -> dict[Entrant, Measured]:
    comparison = rounds.comparison
    report(comparison.name, 0, settings.rounds)
    rounds.each(lambda process: process.wait_until_ready())
    timed: dict[str, Any] = {"do": "build", "paragraphs": None}
    if comparison.part == "search":
        rounds.ask(**timed)
        timed = {"do": "search", "k": settings.k, "least_s": LEAST_S}
        rounds.ask(**timed)
    else:
        rounds.ask("build", paragraphs=WARM_UP_PARAGRAPHS)
    figures: dict[str, list[float]] = {}
    for number in range(settings.rounds):
        for name, seconds in rounds.ask(**timed).items():
            figures.setdefault(name, []).append(comparison.figure(seconds, len(corpus.passages)))
        report(comparison.name, number + 1, settings.rounds)
    found = rounds.ask("find", k=settings.k)
    entrants = [process.entrant for process in rounds.processes]
    ours = next((found[one.name] for one in entrants if one.is_ours), None)
    if ours is None:
        return {}
    return {one: _judged(figures[one.name], ours, found[one.name], corpus) for one in entrants}


def _judged(
    figures: Sequence[float], ours: Sequence[Sequence[int]], found: Sequence[Sequence[int]], corpus: Corpus
) -> Measured:
    paragraphs = [{corpus.passages[number].paragraph for number in numbers} for numbers in found]
    right = sum(gold in at for gold, at in zip(corpus.gold, paragraphs, strict=True))
    return Measured(tuple(figures), overlap(ours, found), right / len(corpus.gold))
