"""Times of indexing, searching and asking: `python -m benchmarks.answers [FOLDER] [--reader fast] [--json]`.

Warm figures come from one run in this process: index (from files to vectors), the first question (models
loaded), and the median of the others. Cold figures come from one process per question.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import spanwise

N_QUESTIONS = 40
HERE = Path(__file__).resolve().parents[1]
SAMPLE = HERE / "corpora" / "sample"
VERBS = {"search": ("search",), "search by words": ("search", "--retriever", "bm25"), "ask": ("ask",)}


def run(index: Path, *arguments: str) -> float:
    """The seconds of one command on the index, from its start to its end; CalledProcessError if it fails."""
    compiled = {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": ""}  # as an installed package is
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "spanwise", *arguments, "--index", index],
        env=os.environ | compiled,
        cwd=HERE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began


def cold(folder: Path, questions: Sequence[str], reader: str) -> dict[str, float]:
    """The median seconds of each kind of command; one of each runs before, so that all is compiled."""
    figures: dict[str, float] = {}
    rounds = len(questions) // len(VERBS)
    with TemporaryDirectory() as scratch:
        index = Path(scratch, "index")
        run(index, "index", str(folder))
        for number, name in enumerate(VERBS):
            verb = (*VERBS[name], *(("--reader", reader) if name == "ask" else ()))
            run(index, *verb, "Is everything compiled?")
            batch = questions[number * rounds : (number + 1) * rounds]  # new questions: answers are cached
            figures[name] = round(median(run(index, *verb, question) for question in batch), 3)
    return figures


def warm(folder: Path, questions: Sequence[str], reader: str) -> dict[str, float]:
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
            ms(lambda text: stages.append(library.ask(text, reader=reader).timings_ms), question)
            for question in questions
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
    parser.add_argument("--reader", default="builtin", help="builtin or fast")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = [question.question for question in spanwise.evaluation.read_questions(options.questions)]
    questions = list(dict.fromkeys(texts))[:N_QUESTIONS]
    folder = options.folder.resolve()
    figures = {
        **warm(folder, questions, options.reader),
        "cold_s": cold(folder, questions, options.reader),
    }
    print(json.dumps(figures) if options.json else "\n".join(f"{k:18} {v}" for k, v in figures.items()))


if __name__ == "__main__":
    main()
