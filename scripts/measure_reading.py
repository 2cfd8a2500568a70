"""Measures what leaving passages unread saves, and how often it shows another answer.

    python scripts/measure_reading.py --data dev-v1.1.json.gz --index runs/reading --limit 200
    python scripts/measure_reading.py --data dev-v1.1.json.gz --index runs/reading --first 8 --margin 6

Every question is asked twice in one process, in turns the one way first and the other: with the rule of the
reader's calibration, or the one that is given, and with all passages read. What is compared is the CPU time
that the reader takes, with one thread. The paragraphs of the file are the collection; its index is made once.
Prints Markdown, or with `--json` one value.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from spanwise.errors import SpanwiseError
from spanwise.pipelines.ask import Asker
from spanwise.pipelines.candidates import said
from spanwise.pipelines.evaluation.open_corpus import OpenCorpus
from spanwise.pipelines.evaluation.open_run import read_together
from spanwise.pipelines.evaluation.squad import gold_questions
from spanwise.pipelines.paragraph_index import contexts_of
from spanwise.pipelines.reranking import stages_below
from spanwise.reader.evidence import Calibration, Stopping
from spanwise.reader.protocol import Reader
from spanwise.reader.token_probabilities import TokenScores
from spanwise.types import Answer, Passage, ScoredSpan


@dataclass(slots=True)
class Timed:
    """A reader and the seconds of CPU that its reading took so far."""

    reader: Reader
    digest: str
    seconds: float = 0.0

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """What the reader finds."""
        began = time.process_time()
        found = self.reader.read(questions, passages, n_best)
        self.seconds += time.process_time() - began
        return found

    def token_scores(self, question: str, passage: Passage) -> TokenScores:
        """Those of the reader."""
        return self.reader.token_scores(question, passage)


@dataclass(frozen=True, slots=True)
class Pair:
    """A question asked both ways, with the seconds of reading."""

    with_rule: Answer
    whole: Answer
    seconds_with_rule: float
    seconds_whole: float

    @property
    def differs(self) -> bool:
        """True when something else is shown, or one of the two is declined."""
        return said(self.with_rule.text) != said(self.whole.text)


def asked_both_ways(asker: Asker, questions: Sequence[str], k: int) -> list[Pair]:
    """The pairs, in the order of the questions; the first question is asked once before."""
    timed = Timed(asker.reader, asker.reader.digest)
    asker = replace(asker, reader=timed)
    asker.ask(questions[:1], k)
    pairs = []
    for number, question in enumerate(questions):
        answers: dict[bool, Answer] = {}
        seconds: dict[bool, float] = {}
        for read_all in (False, True) if number % 2 else (True, False):
            before = timed.seconds
            [answers[read_all]] = asker.ask([question], k, read_all=read_all)
            seconds[read_all] = timed.seconds - before
        pairs.append(Pair(answers[False], answers[True], seconds[False], seconds[True]))
    return pairs


def figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    """What the rule does over all pairs; `ratio` is the time of reading with it to that of reading all."""
    answers = [pair.with_rule for pair in pairs]
    return {
        "questions": len(pairs),
        "stopped": fmean(bool(one.passages_unread) for one in answers),
        "passages_read": fmean(one.passages_read for one in answers),
        "passages_found": fmean(one.passages_read + one.passages_unread for one in answers),
        "ratio": sum(one.seconds_with_rule for one in pairs) / sum(one.seconds_whole for one in pairs),
        "differ": fmean(pair.differs for pair in pairs),
    }


def ruled(calibration: Calibration | None, first: int | None, margin: float | None, k: int) -> Calibration:
    """The calibration with the rule that is to be measured."""
    if calibration is None:
        sys.exit("this reader has no calibration: fit it with spanwise calibrate --out READER")
    if first is not None and margin is not None:
        return replace(calibration, stopping=Stopping(first, k, margin))
    if calibration.stopping is None:
        sys.exit("this calibration has no rule: give one by --first and --margin, or fit it anew")
    return calibration


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """The figures, and the rule they are of."""
    dataset = read_together(given.data)
    questions = [one.text for one in gold_questions(dataset, given.limit, given.seed)]
    with OpenCorpus.plan(given.index, contexts_of(dataset.articles)).open() as library:
        library.encode_for(stages_below([given.retriever]), "builtin")
        asker = library.asker(given.retriever, given.reader)
        calibration = ruled(asker.calibration, given.first, given.margin, given.k)
        pairs = asked_both_ways(replace(asker, calibration=calibration), questions, given.k)
    rule = asdict(calibration.stopping) if calibration.stopping else None
    return {"retriever": given.retriever, "k": given.k, "rule": rule, **figures(pairs)}


def markdown(found: dict[str, Any]) -> str:
    """A table of one row."""
    row = (
        f"{found['questions']:,}",
        f"{found['stopped']:.1%}",
        f"{found['passages_read']:.1f} of {found['passages_found']:.1f}",
        f"{found['ratio']:.2f}",
        f"{found['differ']:.1%}",
    )
    head = (
        "questions",
        "stopped",
        "passages read",
        "time of reading, to reading all",
        "another answer shown",
    )
    return f"| {' | '.join(head)} |\n{'|---' * len(head)}|\n| {' | '.join(row)} |"


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, action="append", required=True, help="a SQuAD-format file")
    parser.add_argument(
        "--index", type=Path, required=True, help="of its paragraphs, made where there is none"
    )
    parser.add_argument("--reader", default="builtin")
    parser.add_argument("--retriever", default="bm25")
    parser.add_argument("-k", type=int, default=20, help="how many passages are found")
    parser.add_argument("--limit", type=int, help="how many questions, drawn by the seed; by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="how many passages are read first, in place of the fitted")
    parser.add_argument("--margin", type=float, help="from which margin on they are enough, likewise")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    given = parser.parse_args()
    if (given.first is None) != (given.margin is None):
        parser.error("--first and --margin go together")
    import torch

    torch.set_num_threads(1)
    try:
        found = measure(given)
    except (SpanwiseError, ValueError) as error:
        sys.exit(f"{error}")
    print(json.dumps(found, indent=1) if given.json else markdown(found))


if __name__ == "__main__":
    main()
