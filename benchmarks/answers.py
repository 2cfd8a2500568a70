"""Times of indexing, searching and asking: `python -m benchmarks.answers [FOLDER --questions FILE] [--json]`.

Warm figures come from one run in this process: index (from files to vectors), the first question (models
loaded), and the median of the others. Cold figures come from one process per question, in turns with
`--before`, an older checkout, and `--qmd`, the search by words of the program qmd; each program has another
index. A ratio above 1 means that this checkout is faster.
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
    """A program with its index.

    name: shown with its figures.
    start: the words that start it.
    verbs: the words before a question, by kind of command.
    options: the words after a question.
    environment: variables of its processes.
    folder: where they run.
    """

    name: str
    start: Sequence[str]
    verbs: Mapping[str, Sequence[str]]
    options: Sequence[str]
    environment: Mapping[str, str]
    folder: Path

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
            cwd=self.folder,
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
    program = Program(name, start, VERBS, ("--index", index), compiled, tree)
    program.run("index", str(folder), "--index", index)
    for verb in VERBS:
        program.seconds(verb, "Is everything compiled?")
    return program


def qmd(path: str, folder: Path, scratch: Path) -> Program:
    """The program qmd with a collection of the Markdown files of the folder."""
    home = scratch / "home"
    home.mkdir()
    program = Program("qmd", [path], {"search by words": ("search",)}, (), {"HOME": str(home)}, scratch)
    program.run("collection", "add", str(folder), "--name", "docs")
    return program


def cold(programs: Sequence[Program], questions: Sequence[str]) -> dict[str, dict[str, float]]:
    """For each kind of command the median seconds of each program, and its ratio to the first one."""
    figures: dict[str, dict[str, float]] = {}
    rounds = len(questions) // len(VERBS)
    for number, verb in enumerate(VERBS):
        able = [program for program in programs if verb in program.verbs]
        batch = questions[number * rounds : (number + 1) * rounds]  # new questions: answers are cached
        times = [[program.seconds(verb, question) for program in able] for question in batch]
        ours, *others = zip(*times, strict=True)
        figures[verb] = {able[0].name: round(median(ours), 3)}
        for program, seconds in zip(able[1:], others, strict=True):
            ratios = [other / own for own, other in zip(ours, seconds, strict=True)]
            figures[verb][program.name] = round(median(seconds), 3)
            figures[verb][f"{program.name}: ratio"] = round(median(ratios), 2)
    return figures


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

        stages: list[Mapping[str, float]] = []
        ask_ms = [
            ms(lambda text: stages.append(library.ask(text).timings_ms), question) for question in questions
        ]
        search_ms = [ms(library.search, question) for question in questions]
        passages = library.status()["passages"]
    return {
        "passages": passages,
        "index_s": round(indexed, 2),
        "first_question_ms": round(ask_ms[0], 1),
        "question_ms": round(median(ask_ms[1:]), 1),
        "search_ms": round(median(search_ms), 1),
        **{
            f"{name}_ms": round(median(times.get(name, 0.0) for times in stages[1:]), 1) for name in stages[0]
        },
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
    options = parser.parse_args()
    texts = [question.question for question in spanwise.evaluation.read_questions(options.questions)]
    questions = list(dict.fromkeys(texts))[:N_QUESTIONS]
    folder = options.folder.resolve()
    figures: dict[str, object] = dict(warm(folder, questions))
    with TemporaryDirectory() as name:
        scratch = Path(name)
        programs = [checkout("spanwise", HERE, folder, scratch)]
        if options.before:
            programs.append(checkout("before", options.before.resolve(), folder, scratch))
        if options.qmd:
            programs.append(qmd(options.qmd, folder, scratch))
        figures["cold_s"] = cold(programs, questions)
    print(json.dumps(figures) if options.json else "\n".join(f"{k:18} {v}" for k, v in figures.items()))


if __name__ == "__main__":
    main()
