"""Measures statements made of questions and answers against sentences that people wrote.

    python scripts/measure_statements.py --set own
    python scripts/measure_statements.py --set fetaqa --data DIR
    python scripts/measure_statements.py --set squad --data DIR --n 2000 --show 100

DIR, or else SPANWISE_DATA, holds the data sets that `statement_sets` reads. Of `own` and `fetaqa` are printed
means of ROUGE F1 (stemmed, the best of several references), BLEU of all texts together, words, and the
difference in ROUGE-L to copying the sentence with its 95 % interval and p of a paired randomization test,
corrected for all rows. Then the same over the questions that have a supported statement only. Of `squad`
the shares of questions with a statement are printed, before and after the check, of the questions as they
are and of ones changed so that their paragraph no longer answers them; `--show` lists drawn statements, to
be read.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from statement_sets import OWN, Case, fetaqa, own, squad

from spanwise.eval.significance.comparison import Comparison, compare
from spanwise.eval.significance.pairing import Asked, Scored, pair
from spanwise.eval.text.bleu import bleu, bleu_counts, corpus_counts
from spanwise.eval.text.rouge import rouge
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.summarizing.stated import supported
from spanwise.pipelines.support_check import checker
from spanwise.reader.absent.article import Article
from spanwise.reader.absent.changed_questions import CHANGES
from spanwise.reader.examples import ReaderExample
from spanwise.reader.statement import statement
from spanwise.reader.support.verdict import Verdict

COPY, STATED, UNCHECKED = "the sentence", "statement, else the sentence", "the same, unchecked"
MEASURES = ("rouge1", "rouge2", "rougeL")
CHECK = checker(Analyzer())

System = Callable[[Case], str]


def checked(case: Case) -> str | None:
    """The statement of a case when its evidence supports it."""
    stated = supported(case.question, case.answer, case.sentence, case.evidence, CHECK)
    return stated.text if stated else None


def unchecked(case: Case) -> str | None:
    """The statement of a case as it is made."""
    return statement(case.question, case.answer, case.sentence)


def by_check(case: Case) -> str | None:
    """The statement of a case when the support check alone finds it supported."""
    text = unchecked(case)
    return text if text and CHECK.check(text, case.evidence).verdict == Verdict.SUPPORTED else None


SYSTEMS: dict[str, System] = {
    COPY: lambda case: case.sentence,
    STATED: lambda case: checked(case) or case.sentence,
    UNCHECKED: lambda case: unchecked(case) or case.sentence,
}


@dataclass(frozen=True, slots=True)
class Row:
    """A system: means of ROUGE F1, BLEU (0..100), words a text, and what it gains over the sentence."""

    name: str
    means: dict[str, float]
    bleu: float
    n_words: float
    gain: Comparison | None


def rows(cases: Sequence[Case], systems: dict[str, System]) -> list[Row]:
    """A row for each system, copying the sentence first."""
    texts = {name: [" ".join(system(case).split()) for case in cases] for name, system in systems.items()}
    scored = {name: _scores(name, cases, written) for name, written in texts.items()}
    others = [name for name in systems if name != COPY]
    gains = compare([(pair(scored[COPY], scored[name]), "rougeL") for name in others])
    return [
        Row(
            name,
            {measure: fmean(scored[name].scores[measure].values()) for measure in MEASURES},
            _bleu(cases, texts[name]),
            fmean(len(text.split()) for text in texts[name]),
            dict(zip(others, gains, strict=True)).get(name),
        )
        for name in systems
    ]


def _bleu(cases: Sequence[Case], texts: Sequence[str]) -> float:
    pairs = zip(cases, texts, strict=True)
    return bleu(corpus_counts(bleu_counts(case.references, text) for case, text in pairs)).score


def _scores(name: str, cases: Sequence[Case], written: Sequence[str]) -> Scored:
    scores: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
    for case, text in zip(cases, written, strict=True):
        compared = rouge(case.references, text, stem=True)
        for measure in MEASURES:
            scores[measure][case.id] = compared[measure].f1
    return Scored(name, scores, {case.id: Asked(case.question) for case in cases})


def table(found: Sequence[Row]) -> str:
    """The rows as Markdown, ROUGE in percent."""
    lines = [
        "| text | ROUGE-1 | ROUGE-2 | ROUGE-L | BLEU | words | ROUGE-L to the sentence |",
        "|---" * 7 + "|",
    ]
    for row in found:
        means = " | ".join(f"{100 * row.means[measure]:.1f}" for measure in MEASURES)
        gain = "" if row.gain is None else _gain(row.gain)
        lines.append(f"| {row.name} | {means} | {row.bleu:.1f} | {row.n_words:.1f} | {gain} |")
    return "\n".join(lines)


def _gain(one: Comparison) -> str:
    ends = "" if one.interval is None else f" ({100 * one.interval[0]:+.1f} to {100 * one.interval[1]:+.1f})"
    return f"{100 * one.difference:+.1f}{ends}, p = {one.p_holm:.4f}"


def compared(cases: Sequence[Case]) -> str:
    """Both tables of a set with references: over all its questions, and where a statement was shown."""
    made = [case for case in cases if checked(case)]
    n_unchecked = sum(unchecked(case) is not None for case in cases)
    told = f"{len(cases)} questions: {n_unchecked} have a statement, {len(made)} of them a supported one"
    parts = [told, table(rows(cases, SYSTEMS))]
    if made:
        only = {name: SYSTEMS[name] for name in (COPY, STATED)}
        parts += ["where there is a supported statement:", table(rows(made, only))]
    return "\n\n".join(parts)


def coverage(cases: Sequence[Case], show: int) -> str:
    """How many questions get a statement, as they are and changed, and some of the statements."""
    lines = [
        "| questions | number | a statement | by the check alone | shown |",
        "|---" * 5 + "|",
        _share("as they are", cases),
    ]
    lines += [_share(f"changed: {kind}", changed(cases, kind)) for kind in ("figures", "names", "opposites")]
    texts = [(case, text) for case in cases if (text := checked(case))]
    for number, (case, text) in enumerate(random.Random(1).sample(texts, min(show, len(texts))), start=1):
        lines += [
            f"\n{number}. {text}",
            f"   {case.question}  [{case.answer}]",
            f"   {' '.join(case.sentence.split())}",
        ]
    return "\n".join(lines)


def _share(name: str, cases: Sequence[Case]) -> str:
    counts = [sum(found(case) is not None for case in cases) for found in (unchecked, by_check, checked)]
    shares = " | ".join(f"{n} ({n / max(len(cases), 1):.1%})" for n in counts)
    return f"| {name} | {len(cases)} | {shares} |"


def changed(cases: Sequence[Case], kind: str) -> list[Case]:
    """The cases whose question can be changed in that way, with the changed question."""
    rng = random.Random(0)
    article = Article(sorted({" ".join(case.evidence) for case in cases}))
    found = []
    for case in cases:
        passage = " ".join(case.evidence)
        question = CHANGES[kind](ReaderExample(case.id, case.question, passage, None, None, ""), article, rng)
        if question and question != case.question:
            found.append(Case(case.id, question, case.answer, case.sentence, case.evidence))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", choices=("own", "fetaqa", "squad"), required=True, dest="name")
    parser.add_argument("--data", type=Path, default=os.environ.get("SPANWISE_DATA") or None)
    parser.add_argument("--file", type=Path, default=OWN, help="the questions of own")
    parser.add_argument("--n", type=int, default=2000, help="questions of squad (default 2000)")
    parser.add_argument("--show", type=int, default=0, help="so many statements of squad (default none)")
    given = parser.parse_args(arguments)
    if given.name == "own":
        print(compared(own(given.file)))
        return
    if given.data is None:
        parser.error("name a folder with --data, or set SPANWISE_DATA")
    if given.name == "squad":
        print(coverage(squad(given.data, given.n), given.show))
        return
    cases, n = fetaqa(given.data)
    print(f"{len(cases)} of {n} questions have one cell that can be the answer\n")
    print(compared(cases))


if __name__ == "__main__":
    main()
