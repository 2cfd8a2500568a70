"""Measures the check of written sentences: by people's judgements, and by errors put into true sentences.

    python scripts/measure_support.py begin begin-dev/begin_dev_*.tsv.gz
    python scripts/measure_support.py errors squad/train-v1.1.json.gz --paragraphs 400

`begin` reads responses that people judged to be attributable to a text, or not (BEGIN, Dziri et al. 2022),
and prints balanced accuracies: of the check (a response counts as attributable when all its sentences are
supported together), and of word overlap with the best threshold for these very responses, which is more than
it could have. `errors` takes sentences of the validation articles with their paragraph as evidence, as they
are and shortened, puts an error of each kind into them, and prints how many are noticed (recall), and how
many of the sentences so noticed have one (precision), with the sentence itself as the other half.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from spanwise.corpora.sentences import sentence_spans
from spanwise.corpora.squad import read_squad
from spanwise.errors import SpanwiseError
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.evaluation.injected_errors import Injector
from spanwise.pipelines.support_check import checker
from spanwise.pipelines.validation_split import split_articles
from spanwise.reader.support.check import Checker
from spanwise.reader.support.verdict import Verdict

LEAST_WORDS = 6  # of a sentence that an error is put into
_ASIDE = re.compile(r" \([^()]*\)")


def balanced_accuracy(right: Sequence[bool], said: Sequence[bool]) -> float:
    """The mean of the shares of both kinds that are told right; ValueError without one of them."""
    if len(set(right)) < 2:
        raise ValueError("expected responses of both kinds")
    hits = Counter(told for told, found in zip(right, said, strict=True) if told == found)
    return sum(hits[kind] / right.count(kind) for kind in (True, False)) / 2


def best_threshold(right: Sequence[bool], scores: Sequence[float]) -> float:
    """The balanced accuracy of the threshold that is best for these very scores."""
    return max(balanced_accuracy(right, [score >= least for score in scores]) for least in set(scores))


def overlap(text: str, evidence: str) -> float:
    """The share of the words of a text, by white space and in lower case, that the evidence has."""
    there, words = set(evidence.lower().split()), text.lower().split()
    return sum(word in there for word in words) / max(1, len(words))


def responses(path: Path) -> list[tuple[str, str, bool]]:
    """Knowledge, response, and whether people found the one in the other, of a file of BEGIN."""
    csv.field_size_limit(10**8)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        try:
            return [
                (row["knowledge"], row["response"], row["begin_label"] == "Fully attributable")
                for row in rows
            ]
        except KeyError as missing:
            raise ValueError(f"{path} has no column {missing}; expected a file of BEGIN") from None


def begin(paths: Sequence[Path], check: Checker) -> Iterator[str]:
    """Lines of Markdown, one a file and one for all."""
    yield "| set | responses | attributable | the check | word overlap, best threshold |"
    yield "|---|---|---|---|---|"
    labels: list[bool] = []
    said: list[bool] = []
    scores: list[float] = []
    for path in paths:
        rows = responses(path)
        right = [told for _, _, told in rows]
        supported = [
            check.check(response, sentences(knowledge)).verdict == Verdict.SUPPORTED
            for knowledge, response, _ in rows
        ]
        overlaps = [overlap(response, knowledge) for knowledge, response, _ in rows]
        yield _line(path.name.partition(".")[0], right, supported, overlaps)
        labels, said, scores = [*labels, *right], [*said, *supported], [*scores, *overlaps]
    if len(paths) > 1:
        yield _line("all", labels, said, scores)


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def shortened(sentence: str) -> str:
    """A sentence without what stands in brackets, up to its first comma if that leaves enough words."""
    plain = _ASIDE.sub("", sentence)
    first, comma, _ = plain.partition(", ")
    return f"{first}." if comma and len(first.split()) >= LEAST_WORDS else plain


def errors(data: Path, n_paragraphs: int, check: Checker) -> Iterator[str]:
    """Lines of Markdown, one for each kind of error and form of the sentence."""
    yield "| sentences | error | n | recall | precision |"
    yield "|---|---|---|---|---|"
    _, validation = split_articles(read_squad(data).articles)
    paragraphs = [paragraph.context for article in validation for paragraph in article.paragraphs]
    rng = random.Random(1)
    drawn = rng.sample(paragraphs, min(n_paragraphs, len(paragraphs)))
    rows = [(one, pieces) for pieces in map(sentences, drawn) for one in pieces]
    rows = [(one, pieces) for one, pieces in rows if len(one.split()) >= LEAST_WORDS]
    injector = Injector([one for one, _ in rows], lambda word: not check.content(word))
    forms: dict[str, Callable[[str], str]] = {"as they are": str, "shortened": shortened}
    for form, changed in forms.items():
        noticed, alarms, made = Counter[str](), Counter[str](), Counter[str]()
        for sentence, pieces in rows:
            true = changed(sentence)
            alarm = check.check(true, pieces).verdict != Verdict.SUPPORTED
            for error in injector.errors(true, " ".join(pieces), rng):
                made[error.kind] += 1
                alarms[error.kind] += alarm
                noticed[error.kind] += check.check(error.text, pieces).verdict != Verdict.SUPPORTED
        for kind, n in made.items():
            precision = noticed[kind] / max(1, noticed[kind] + alarms[kind])
            yield f"| {form} | {kind} | {n} | {noticed[kind] / n:.3f} | {precision:.3f} |"


def _line(name: str, right: list[bool], said: list[bool], scores: list[float]) -> str:
    ours, theirs = balanced_accuracy(right, said), best_threshold(right, scores)
    return f"| {name} | {len(right)} | {sum(right)} | {ours:.3f} | {theirs:.3f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("begin", "errors"))
    parser.add_argument("data", type=Path, nargs="+", help="files of BEGIN, or one SQuAD-format file")
    parser.add_argument("--paragraphs", type=int, default=400, help="for errors: how many are drawn")
    given = parser.parse_args(arguments)
    if given.what == "errors" and len(given.data) > 1:
        parser.error("errors takes one file")
    check = checker(Analyzer())
    try:
        lines = (
            begin(given.data, check)
            if given.what == "begin"
            else errors(given.data[0], given.paragraphs, check)
        )
        for line in lines:
            print(line, flush=True)
    except (SpanwiseError, ValueError, OSError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
