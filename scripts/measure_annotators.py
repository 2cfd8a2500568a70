"""Measures how well one gold answer judges what several would.

    python scripts/measure_annotators.py new_wiki_v1.0.json.gz

Of every question with three gold answers or more one is taken for a prediction, drawn by a fixed seed.
Printed is the share with an F1 of at least 0.6 with the best of the others, and the shares with an F1 of at
least 0.2 to 0.6 with one of them, drawn likewise: where two shares are equal, one gold answer is as strict as
all.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from spanwise.corpora.squad import read_squad
from spanwise.eval.squad import f1_v1

LEAST_WITH_ALL = 0.6
LEAST_WITH_ONE = (0.2, 0.3, 0.4, 0.5, 0.6)


def pairs(data: Path) -> list[tuple[float, float]]:
    """The F1 of a drawn answer with one of the others and with the best of them, for each question."""
    rng, found = random.Random(0), []
    for article in read_squad(data).articles:
        for question in (q for paragraph in article.paragraphs for q in paragraph.questions):
            golds = [answer.text for answer in question.answers]
            if len(golds) >= 3:
                rng.shuffle(golds)
                scores = [f1_v1(golds[0], other) for other in golds[1:]]
                found.append((scores[0], max(scores)))
    return found


def share(scores: Sequence[float], least: float) -> str:
    """How many of the scores are not below `least`, in percent."""
    return f"{100 * sum(score >= least for score in scores) / len(scores):.1f} %"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="a SQuAD-format file with several golds a question")
    found = pairs(parser.parse_args(arguments).data)
    if not found:
        parser.error("no question has three gold answers")
    one, best = zip(*found, strict=True)
    print(f"{len(found)} questions; F1 of {LEAST_WITH_ALL} with the best: {share(best, LEAST_WITH_ALL)}")
    for least in LEAST_WITH_ONE:
        print(f"F1 of {least} with one: {share(one, least)}")


if __name__ == "__main__":
    main()
