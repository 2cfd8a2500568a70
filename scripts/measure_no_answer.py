"""Measures what a threshold for declining is worth on questions that did not choose it.

    spanwise eval squad --data dev-v2.0.json.gz --out runs/v2
    python scripts/measure_no_answer.py runs/v2 --data dev-v2.0.json.gz

The articles are put in two halves, every other one in the order of their titles. Each half is scored at a
threshold of the no-answer probability that was chosen on the other one: that of the best F1, and the balanced
one, at which the lesser of the F1 with an answer and without is greatest.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from spanwise.corpora.squad import SquadDataset, read_squad
from spanwise.errors import SpanwiseError
from spanwise.eval.squad import averages_v2, question_scores_v2
from spanwise.eval.squad_na_probability import best_threshold, decline_above

Golds = Mapping[str, Sequence[str]]
Choose = Callable[[Golds, Mapping[str, str], Mapping[str, float]], float]


def halves(dataset: SquadDataset) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The golds of the questions of every other article, by title, and those of the rest."""
    parts: tuple[dict[str, list[str]], dict[str, list[str]]] = {}, {}
    for number, article in enumerate(sorted(dataset.articles, key=lambda one: one.title)):
        for question in (q for paragraph in article.paragraphs for q in paragraph.questions):
            parts[number % 2][question.id] = [answer.text for answer in question.answers]
    return parts


def of_best_f1(golds: Golds, spans: Mapping[str, str], probabilities: Mapping[str, float]) -> float:
    """The threshold with the best F1."""
    return best_threshold(golds, spans, question_scores_v2(golds, spans)[1], probabilities)[1]


def balanced(golds: Golds, spans: Mapping[str, str], probabilities: Mapping[str, float]) -> float:
    """The lowest threshold at which the lesser of both F1 is greatest; ValueError without both kinds."""
    scores = question_scores_v2(golds, spans)[1]
    n_has = sum(bool(answers) for answers in golds.values())
    if n_has in (0, len(golds)):
        raise ValueError("expected questions with and without an answer in either half")
    has, no = 0.0, 1.0
    best, chosen = -1.0, 0.0
    for threshold, qids in groupby(sorted(golds, key=probabilities.__getitem__), probabilities.__getitem__):
        for qid in qids:
            if golds[qid]:
                has += scores[qid] / n_has
            else:
                no -= 1 / (len(golds) - n_has)
        if min(has, no) > best:
            best, chosen = min(has, no), threshold
    return chosen


def crossed(
    parts: Sequence[Golds], spans: Mapping[str, str], probabilities: Mapping[str, float], choose: Choose
) -> tuple[list[float], dict[str, float]]:
    """The threshold that each half was scored at, and the averages over both; ValueError: an empty half."""
    if not all(parts):
        raise ValueError("expected at least two articles with questions")
    thresholds, exact, f1 = [], {}, {}
    for here, other in (parts, parts[::-1]):
        threshold = choose(other, spans, probabilities)
        scores = question_scores_v2(here, spans)
        exact.update(decline_above(here, scores[0], probabilities, threshold))
        f1.update(decline_above(here, scores[1], probabilities, threshold))
        thresholds.append(threshold)
    return thresholds, averages_v2({**parts[0], **parts[1]}, exact, f1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="the folder that `eval squad --out` wrote")
    parser.add_argument("--data", type=Path, required=True, help="the SQuAD 2.0 file that was scored")
    given = parser.parse_args(arguments)
    try:
        spans, probabilities = (
            json.loads((given.results / name).read_text(encoding="utf-8"))
            for name in ("spans.json", "na_prob.json")
        )
        parts = halves(read_squad(given.data))
        for name, choose in (("best F1", of_best_f1), ("balanced", balanced)):
            thresholds, averages = crossed(parts, spans, probabilities, choose)
            told = ", ".join(f"{name} {value:.1f}" for name, value in averages.items())
            print(f"{name}: thresholds {' '.join(f'{one:.2g}' for one in thresholds)}; {told}")
    except (SpanwiseError, ValueError, OSError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
