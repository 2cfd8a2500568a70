"""Times of indexing, searching and asking: `python -m benchmarks.answers [FOLDER --questions FILE] [--json]`.

Warm figures come from one run in this process: index (from files to vectors), the first question (models
loaded), and the median of the others. Cold figures come from one process per question, in turns with
`--before`, an older checkout, which has another index. A ratio above 1 means that this checkout is faster.
"""

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
class Checkout:
    """A checkout of spanwise with an index.

    name: shown with its figures.
    tree: the folder of the checkout.
    index: the directory of the index.
    """

    name: str
    tree: Path
    index: Path

    def prepare(self, folder: Path) -> None:
        """Index a folder, and run each kind of command once, so that everything is compiled."""
        self.run("index", str(folder))
        for verb in VERBS:
            self.seconds(verb, "Is everything compiled?")

    def seconds(self, verb: str, question: str) -> float:
        """The time of one command, from its start to its end."""
        began = time.perf_counter()
        self.run(*VERBS[verb], question)
        return time.perf_counter() - began

    def run(self, *arguments: str) -> None:
        """Run a command on the index; CalledProcessError when it fails."""
        compiled = {"PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": ""}  # as an installed package is
        subprocess.run(
            [sys.executable, "-m", "spanwise", *arguments, "--index", self.index],
            env=os.environ | compiled,
            cwd=self.tree,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def cold(checkouts: Sequence[Checkout], questions: Sequence[str]) -> dict[str, dict[str, float]]:
    """For each kind of command the median seconds of each checkout, and its ratio to the first one."""
    figures: dict[str, dict[str, float]] = {}
    rounds = len(questions) // len(VERBS)
    for number, verb in enumerate(VERBS):
        batch = questions[number * rounds : (number + 1) * rounds]  # new questions: answers are cached
        times = [[checkout.seconds(verb, question) for checkout in checkouts] for question in batch]
        ours, *others = zip(*times, strict=True)
        figures[verb] = {checkouts[0].name: round(median(ours), 3)}
        for checkout, seconds in zip(checkouts[1:], others, strict=True):
            ratios = [other / own for own, other in zip(ours, seconds, strict=True)]
            figures[verb][checkout.name] = round(median(seconds), 3)
            figures[verb][f"{checkout.name}: ratio"] = round(median(ratios), 2)
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
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = [question.question for question in spanwise.evaluation.read_questions(options.questions)]
    questions = list(dict.fromkeys(texts))[:N_QUESTIONS]
    folder = options.folder.resolve()
    figures: dict[str, object] = dict(warm(folder, questions))
    trees = {"spanwise": HERE} | ({"before": options.before.resolve()} if options.before else {})
    with TemporaryDirectory() as scratch:
        checkouts = [Checkout(name, tree, Path(scratch, name)) for name, tree in trees.items()]
        for checkout in checkouts:
            checkout.prepare(folder)
        figures["cold_s"] = cold(checkouts, questions)
    print(json.dumps(figures) if options.json else "\n".join(f"{k:18} {v}" for k, v in figures.items()))


if __name__ == "__main__":
    main()
