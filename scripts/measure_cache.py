"""Measures what staying warm and remembering answers saves.

    python scripts/measure_cache.py FOLDER --question "who founded the mill?" --rounds 9

FOLDER is indexed already. Processes: `spanwise ask` without the cache and with it, start included, taking
turns. Calls: one library that keeps nothing warm (it is opened anew each time), a warm one, and a warm one
with the cache. Prints the medians and their ratios as Markdown.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from spanwise.pipelines.library import Library
from spanwise.pipelines.opening import open_index


def timed(job: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    job()
    return (time.perf_counter() - began) * 1000


def in_turn(jobs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median of each job, after one round that is not counted."""
    for job in jobs.values():
        job()
    times = [{name: timed(job) for name, job in jobs.items()} for _ in range(rounds)]
    return {name: median(row[name] for row in times) for name in jobs}


def processes(index: Path, question: str) -> dict[str, Callable[[], object]]:
    """`spanwise ask` and `spanwise search` as a person types them."""

    def run(*arguments: str) -> Callable[[], object]:
        command = [sys.executable, "-m", "spanwise", *arguments, "--index", str(index), "--json"]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    return {
        "process: ask, computed": run("ask", question, "--no-cache"),
        "process: ask, cached": run("ask", question),
        "process: search hybrid, computed": run("search", question, "--no-cache"),
        "process: search hybrid, cached": run("search", question),
    }


def calls(index: Path, question: str, warm: Library, cached: Library) -> dict[str, Callable[[], object]]:
    """The same inside one process that has its models loaded."""

    def cold(verb: str) -> None:
        with open_index(index, cache=False) as library:
            library.encoder = warm.encoder
            library.search(question, retriever=verb)

    jobs: dict[str, Callable[[], object]] = {}
    for name in ("bm25", "hybrid"):
        jobs[f"call: search {name}, opened anew"] = lambda name=name: cold(name)
        jobs[f"call: search {name}, warm"] = lambda name=name: warm.search(question, retriever=name)
        jobs[f"call: search {name}, cached"] = lambda name=name: cached.search(question, retriever=name)
    jobs["call: ask, warm"] = lambda: warm.ask(question)
    jobs["call: ask, cached"] = lambda: cached.ask(question)
    return jobs


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a folder with an index")
    parser.add_argument("--question", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls-only", action="store_true", help="start no processes")
    arguments = parser.parse_args()
    if os.environ.get("SPANWISE_NO_CACHE"):
        sys.exit("SPANWISE_NO_CACHE is set: there is nothing to measure")
    given = arguments.folder, arguments.question
    medians: dict[str, float] = {}
    if not arguments.calls_only:
        medians |= in_turn(processes(*given), arguments.rounds)
    with open_index(given[0], cache=False) as warm, open_index(given[0]) as cached:
        medians |= in_turn(calls(*given, warm, cached), arguments.rounds)
    print("| what | ms | times as fast as the one above |\n|---|---|---|")
    before = 0.0
    for name, value in medians.items():
        ratio = (
            ""
            if "computed" in name or "anew" in name or name == "call: ask, warm"
            else f"{before / value:.1f}"
        )
        print(f"| {name} | {value:.1f} | {ratio} |")
        before = value


if __name__ == "__main__":
    main()
