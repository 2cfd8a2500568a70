"""Programs for MaxSim side by side on the same token vectors, as Markdown.

    python scripts/compare_maxsim.py FOLDER --scratch /tmp/made \\
        --python maxsim-cpu=/envs/maxsim/bin/python --engines "spanwise exact" "spanwise 4 bits" maxsim-cpu

FOLDER is one of `make_token_corpus.py` with its exact rankings. Each program has a process with one thread,
in the Python named for it (this one by default), and they take turns round by round; a question's time is its
median over the rounds. A program that is too slow is asked fewer questions, one that builds for longer than
`--limit` minutes did not finish. Indexes are made in --scratch; ours are used again when they are there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from maxsim_engines import ENGINES
from token_corpus import TokenCorpus

from spanwise.pipelines.evaluation.speed.machine import machine_record
from spanwise.pipelines.evaluation.speed.pinning import pinned_environment, processors
from spanwise.pipelines.parsing.frames import receive, send

CHILD = Path(__file__).with_name("maxsim_child.py")
HEADER = (
    "| program | p50 ms | p99 ms | times ours | overlap@10 | overlap@100 | gold@1 | gold@20 | B/token "
    "| build s | memory MiB | questions |"
)


DEEP = 100  # results that overlap and recall beyond the best 10 are judged by, untimed


class DidNotFinish(Exception):
    """A program gave no answer; the message says why."""


class Process:
    """The process of one program."""

    def __init__(self, name: str, python: str, options: argparse.Namespace) -> None:
        self.name, self.limit_s = name, options.limit * 60
        self._process = subprocess.Popen(
            [python, str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | pinned_environment(1),
            start_new_session=True,
        )
        start = {"name": name, "folder": str(options.folder), "n": options.passages}
        self._send({**start, "scratch": str(options.scratch), "cpus": processors(1)})

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it and what it has started."""
        self.end()
        self._process.wait()

    def end(self) -> None:
        """Kill the process and those that it started."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, 9)

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a request; `DidNotFinish` when there is none within the limit."""
        clock = threading.Timer(self.limit_s, self.end)
        clock.start()
        try:
            self._send({"do": do, **arguments})
            answer = receive(self._process.stdout, 0)
        except (OSError, ValueError):
            answer = None
        finally:
            clock.cancel()
        if answer is None:
            raise DidNotFinish(f"no answer to {do} within {self.limit_s / 60:g} minutes, or it died")
        if "failed" in answer[0]:
            raise DidNotFinish(answer[0]["failed"])
        return answer[0]

    def _send(self, message: dict[str, Any]) -> None:
        send(self._process.stdin, message)


@dataclass
class Result:
    """What came of one program."""

    name: str
    built: dict[str, Any] = field(default_factory=dict)
    ms: list[list[float]] = field(default_factory=list)  # of each round
    rows: list[list[int]] = field(default_factory=list)
    deep: list[list[int]] = field(default_factory=list)
    memory: dict[str, float] = field(default_factory=dict)
    failed: str = ""

    @property
    def each(self) -> Any:
        """(questions,) the median milliseconds of each over the rounds."""
        return np.median(np.array(self.ms), axis=0)


def measure(options: argparse.Namespace, corpus: TokenCorpus) -> list[Result]:
    """Build all, then let them take turns."""
    pythons = dict(each.split("=", 1) for each in options.python)
    results = [Result(name) for name in options.engines]
    with ExitStack() as stack:
        running: list[tuple[Process, Result, int]] = []
        for result in results:
            process = Process(result.name, pythons.get(result.name, sys.executable), options)
            stack.enter_context(process)
            try:
                running.append((process, result, prepare(process, result, options)))
            except DidNotFinish as error:
                result.failed = str(error)
        for _ in range(options.rounds):
            for process, result, n in running:
                take_turn(process, result, n, options.k)
        for process, result, _ in running:
            if not result.failed:
                result.memory["search"] = process.ask("memory")["peak"]
                finish(process, result)
    return results


def prepare(process: Process, result: Result, options: argparse.Namespace) -> int:
    """Build and warm up; how many questions a round has for this program."""
    result.built = process.ask("build")
    process.ask("search", questions=[0, 1], k=options.k)
    result.memory["build"] = process.ask("memory")["peak"]
    ms = process.ask("search", questions=[2, 3, 4], k=options.k)["ms"]
    n = int(options.turn * 1000 / float(np.median(ms)))
    print(f"{result.name}: {result.built}, {np.median(ms):.1f} ms", file=sys.stderr, flush=True)
    return min(options.questions, max(10, n))


def take_turn(process: Process, result: Result, n: int, k: int) -> None:
    """Ask the first n questions for their best k; who fails is out."""
    if result.failed:
        return
    try:
        answer = process.ask("search", questions=list(range(n)), k=k)
    except DidNotFinish as error:
        result.failed = str(error)
        return
    result.ms.append(answer["ms"])
    result.rows = answer["rows"]


def finish(process: Process, result: Result) -> None:
    """Ask once more for many results."""
    try:
        result.deep = process.ask("search", questions=list(range(len(result.rows))), k=DEEP)["rows"]
    except DidNotFinish as error:
        result.failed = str(error)


def overlap(exact: Any, found: Sequence[Sequence[int]], k: int) -> float:
    """The mean share of the exact best k that are among the best k found."""
    shares = [len({*best[:k].tolist()} & {*rows[:k]}) / k for best, rows in zip(exact, found, strict=False)]
    return float(np.mean(shares))


def gold_at(corpus: TokenCorpus, found: Sequence[Sequence[int]], k: int) -> float:
    """The share of questions whose passage is among the best k."""
    golds = [gold for _, gold in corpus.asked]
    return float(np.mean([gold in rows[:k] for gold, rows in zip(golds, found, strict=False)]))


def table(results: Sequence[Result], corpus: TokenCorpus, exact: Any) -> Iterator[str]:
    """The lines of the table; times are compared with those of the first program on the same questions."""
    yield HEADER
    yield "|---|" + "---|" * (HEADER.count("|") - 2)
    first = results[0].each if results[0].ms else np.zeros(0)
    for one in results:
        if one.failed or not one.ms:
            yield f"| {one.name} | {one.failed} |" + " |" * (HEADER.count("|") - 3)
            continue
        ms, n = one.each, min(len(one.each), len(first))
        ratio = f"{np.median(ms[:n]) / np.median(first[:n]):.2f}" if n else ""
        yield (
            f"| {one.name} | {np.median(ms):.2f} | {np.percentile(ms, 99):.2f} | {ratio} "
            f"| {overlap(exact, one.rows, 10):.3f} | {overlap(exact, one.deep, DEEP):.3f} "
            f"| {gold_at(corpus, one.rows, 1):.2f} | {gold_at(corpus, one.deep, 20):.2f} "
            f"| {one.built['bytes_a_token']:.1f} | {one.built['seconds']:.1f} "
            f"| {one.memory['search']:.0f} | {len(ms)} |"
        )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--python", action="append", default=[], help="PROGRAM=PATH of its Python")
    parser.add_argument("--passages", type=int, help="only so many, the first ones")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turn", type=float, default=20, help="seconds of a turn, about, at most")
    parser.add_argument("--limit", type=float, default=30, help="minutes until a program did not finish")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    corpus = TokenCorpus(options.folder, options.passages)
    exact = corpus.exact if options.passages is None else exact_of(corpus, options.questions)
    options.questions = min(options.questions, len(exact))
    results = measure(options, corpus)
    print(f"{len(corpus.lengths):,} passages, {corpus.starts[-1]:,} tokens; {machine_record()}\n")
    for line in table(results, corpus, exact):
        print(line)


def exact_of(corpus: TokenCorpus, n: int) -> Any:
    """The exact rankings of a smaller collection, computed now."""
    from exact_token_rankings import exact_rankings

    return exact_rankings(corpus, corpus.queries[:n], DEEP)[0]


if __name__ == "__main__":
    main()
