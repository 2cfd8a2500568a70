"""Times of indexing and asking the sample corpus: `python -m benchmarks.answers [--json]`.

Each figure comes from one run in this process: index (from files to vectors), the first question (models
loaded), and the median of the next ones.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import spanwise

N_QUESTIONS = 40
SAMPLE = Path(__file__).parents[1] / "corpora" / "sample"


def main() -> None:
    """Index, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    how = parser.parse_args()
    questions = spanwise.evaluation.read_questions(SAMPLE / "questions.json")[:N_QUESTIONS]
    with TemporaryDirectory() as scratch, spanwise.open(SAMPLE / "docs", Path(scratch) / "index") as library:
        began = time.perf_counter()
        library.sync()
        indexed = time.perf_counter() - began
        asked, stages = [], []
        for question in (one.question for one in questions):
            began = time.perf_counter()
            answer = library.ask(question)
            asked.append(1000 * (time.perf_counter() - began))
            stages.append(answer.timings_ms)
        passages = library.status()["passages"]
    figures = {
        "passages": passages,
        "index_s": round(indexed, 2),
        "first_question_ms": round(asked[0], 1),
        "question_ms": round(median(asked[1:]), 1),
        **{f"{name}_ms": round(median(one.get(name, 0.0) for one in stages[1:]), 1) for name in stages[0]},
    }
    print(json.dumps(figures) if how.json else "\n".join(f"{k:18} {v}" for k, v in figures.items()))


if __name__ == "__main__":
    main()
