"""Times of indexing, searching and asking: `python -m benchmarks.answers [FOLDER --questions FILE] [--json]`.

Warm figures come from one run in this process: index (from files to vectors), the first question (models
loaded), and the median of the next ones. Cold ones are of a command of its own for each question, in turns
with `--before`, an older checkout, and `--qmd`, the program qmd with its search by words; both have an index
of their own. A ratio above 1 means that this checkout is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import spanwise

N_QUESTIONS = 40
HERE = Path(__file__).resolve().parents[1]
SAMPLE = HERE / "corpora" / "sample"
VERBS = {"search": ("search",), "search by words": ("search", "--retriever", "bm25"), "ask": ("ask",)}


@dataclass(frozen=True)
class Program:
    """A program with an index of its own: `verbs` are the commands that come before a question."""

    name: str
    start: Sequence[str]
    verbs: Mapping[str, Sequence[str]]
    options: Sequence[str]
    environment: Mapping[str, str]
    at: Path

    def seconds(self, verb: str, question: str) -> float:
        """The time of one command, from its start to its end."""
        began = time.perf_counter()
        self.run(*self.verbs[verb], question, *self.options)
        return time.perf_counter() - began

    def run(self, *arguments: str) -> None:
        """Run the program; CalledProcessError when it fails."""
        subprocess.run(
            [*self.start, *arguments],
            env=os.environ | self.environment,
            cwd=self.at,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def checkout(name: str, tree: Path, folder: Path, scratch: Path) -> Program:
    """A checkout of spanwise with an index of the folder."""
    index = str(scratch / name)
    start = [sys.executable, "-m", "spanwise"]
    compiled = {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}  # as an installed package is
    made = Program(name, start, VERBS, ("--index", index), compiled, tree)
    made.run("index", str(folder), "--index", index)
    for verb in VERBS:
        made.seconds(verb, "Is everything compiled?")
    return made


def qmd(program: str, folder: Path, scratch: Path) -> Program:
    """The program qmd with a collection of the Markdown files of the folder."""
    home = scratch / "home"
    home.mkdir()
    made = Program("qmd", [program], {"search by words": ("search",)}, (), {"HOME": str(home)}, scratch)
    made.run("collection", "add", str(folder), "--name", "docs")
    return made


def cold(programs: Sequence[Program], questions: Sequence[str]) -> dict[str, dict[str, float]]:
    """For each kind of command the median seconds of each program, and its ratio to the first one."""
    found: dict[str, dict[str, float]] = {}
    left = iter(questions)
    rounds = len(questions) // len(VERBS)
    for verb in VERBS:
        able = [program for program in programs if verb in program.verbs]
        asked = [next(left) for _ in range(rounds)]  # new ones: answers are kept
        times = [[program.seconds(verb, question) for program in able] for question in asked]
        columns = dict(zip((program.name for program in able), zip(*times, strict=True), strict=True))
        ours = columns[programs[0].name]
        found[verb] = {name: round(median(column), 3) for name, column in columns.items()}
        for name, column in columns.items():
            ratios = [other / own for own, other in zip(ours, column, strict=True)]
            if column is not ours:
                found[verb][f"{name}: ratio"] = round(median(ratios), 2)
    return found


def warm(folder: Path, questions: Sequence[str]) -> dict[str, float]:
    """Seconds to index, and milliseconds of questions in this process."""
    with TemporaryDirectory() as scratch, spanwise.open(folder, Path(scratch) / "index") as library:
        began = time.perf_counter()
        library.sync()
        indexed = time.perf_counter() - began

        def ms(work: Callable[[str], object], question: str) -> float:
            began = time.perf_counter()
            work(question)
            return 1000 * (time.perf_counter() - began)

        asked, stages = [], []
        for question in questions:
            asked.append(ms(lambda text: stages.append(library.ask(text).timings_ms), question))
        searched = [ms(library.search, question) for question in questions]
        passages = library.status()["passages"]
    return {
        "passages": passages,
        "index_s": round(indexed, 2),
        "first_question_ms": round(asked[0], 1),
        "question_ms": round(median(asked[1:]), 1),
        "search_ms": round(median(searched), 1),
        **{f"{name}_ms": round(median(one.get(name, 0.0) for one in stages[1:]), 1) for name in stages[0]},
    }


def main() -> None:
    """Index, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=SAMPLE / "docs")
    parser.add_argument("--questions", type=Path, default=SAMPLE / "questions.json")
    parser.add_argument("--before", type=Path, help="an older checkout")
    parser.add_argument("--qmd", help="the program qmd")
    parser.add_argument("--json", action="store_true")
    how = parser.parse_args()
    every = [one.question for one in spanwise.evaluation.read_questions(how.questions)]
    questions = list(dict.fromkeys(every))[:N_QUESTIONS]
    folder = how.folder.resolve()
    figures: dict[str, object] = dict(warm(folder, questions))
    with TemporaryDirectory() as name:
        scratch = Path(name)
        programs = [checkout("spanwise", HERE, folder, scratch)]
        if how.before:
            programs.append(checkout("before", how.before.resolve(), folder, scratch))
        if how.qmd:
            programs.append(qmd(how.qmd, folder, scratch))
        figures["cold_s"] = cold(programs, questions)
    print(json.dumps(figures) if how.json else "\n".join(f"{k:18} {v}" for k, v in figures.items()))


if __name__ == "__main__":
    main()
