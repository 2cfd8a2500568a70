"""Looks into the results of `spanwise eval open`.

    python scripts/measure_open.py gap RESULTS --data dev-v1.1.json.gz

`gap` prints the lexical gap as Markdown: how many questions dense search can answer and BM25 cannot, and the
reverse, with a few of each. What that means, and how those few are drawn, is in
`pipelines/evaluation/lexical_gap.py`. `--json` prints the same as one JSON value.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from spanwise.errors import SpanwiseError
from spanwise.pipelines.evaluation.lexical_gap import Gap, Group, lexical_gaps
from spanwise.pipelines.evaluation.open_run import read_together
from spanwise.pipelines.evaluation.result_folder import ResultFolder

MEANINGS = {
    "found": "The paragraph among the first 20 documents of the one, not of the other",
    "answered": "Exact match with the one, no word in common with any gold with the other",
}


def markdown(gap: Gap, first: str, second: str) -> Iterator[str]:
    """The lines of one table and its quotes."""
    names = {f"both {first} and {second}": gap.both, f"only {first}": gap.only_first}
    names[f"only {second}"] = gap.only_second
    yield f"{MEANINGS[gap.way]} ({gap.questions:,} questions):\n"
    yield "| | questions | of the question's words in the paragraph |"
    yield "|---|---|---|"
    yield from (
        f"| {name} | {group.questions:,} | {percent(group.overlap)} |" for name, group in names.items()
    )
    for name in (f"only {first}", f"only {second}"):
        yield from quotes(name.capitalize(), names[name])
    yield ""


def quotes(title: str, group: Group) -> Iterator[str]:
    """Each question that is quoted, its answer, and the sentence that holds it."""
    if group.quoted:
        yield f"\n{title}, {len(group.quoted)} of {group.questions:,}:\n"
    yield from (f"- {one.question.strip()} **{one.answer}**: “{one.sentence}”" for one in group.quoted)


def percent(share: float | None) -> str:
    """A share as it is written in a table."""
    return "" if share is None else f"{100 * share:.0f} %"


def main() -> None:
    """Reads the arguments, looks, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("gap",))
    parser.add_argument("results", type=Path, help="the folder that `eval open --out` wrote")
    parser.add_argument("--data", type=Path, action="append", required=True, help="the file that was asked")
    parser.add_argument("--systems", nargs=2, default=("dense", "bm25"), metavar="NAME")
    parser.add_argument("--quoted", type=int, default=5, help="how many questions are quoted of each kind")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    arguments = parser.parse_args()
    first, second = arguments.systems
    try:
        results = ResultFolder.open(arguments.results)
        records = [list(results.records(name)) for name in (first, second)]
        for name, found in zip((first, second), records, strict=True):
            if not found:
                sys.exit(f"{arguments.results} has no records of {name!r}: name two with --systems")
        gaps = lexical_gaps(*records, read_together(arguments.data), arguments.quoted)
    except (SpanwiseError, ValueError) as error:
        sys.exit(f"{error}")
    if arguments.json:
        print(json.dumps({"first": first, "second": second, "gaps": [asdict(gap) for gap in gaps]}, indent=1))
    else:
        print("\n".join(line for gap in gaps for line in markdown(gap, first, second)))


if __name__ == "__main__":
    main()
