"""`spanwise eval compare`: is one system better than another, and on which questions?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from ..terminal import print_json
from .comparison_table import print_comparisons, tell
from .options import (
    MeasureOption,
    PermutationsOption,
    PredictionsDataOption,
    QrelsOption,
    ShowOption,
    SystemOption,
    TestSeedOption,
)


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="Result folders, records.jsonl, predictions files or TREC runs; the first is the baseline.",
            show_default=False,
        ),
    ],
    system: SystemOption = None,
    measure: MeasureOption = None,
    qrels: QrelsOption = None,
    data: PredictionsDataOption = None,
    permutations: PermutationsOption = 10_000,
    confidence: Annotated[float, typer.Option(help="Of the intervals of the mean difference.")] = 0.95,
    seed: TestSeedOption = 0,
    show: ShowOption = 3,
    json: JsonOption = False,
) -> None:
    """Compare systems question by question: differences, intervals, p-values, wins, losses and ties."""
    from ....eval.significance.comparison import Method
    from ...evaluation.compare import chosen, compare_systems, pair_records, told
    from ...evaluation.scored_files import read_sources, read_truth

    sources = read_sources(results, read_truth(data, qrels), measure or ())
    tell(note for source in sources for note in source.notes)
    baseline, *others = chosen(sources, system or ())
    method = Method("two-sided", permutations, seed, confidence)
    found = compare_systems([(baseline, other) for other in others], measure or (), method)
    tell(told(found))
    if json:
        settings = {"permutations": permutations, "confidence": confidence, "seed": seed}
        print_json({"alternative": "two-sided", **settings, "pairs": pair_records(found)})
        return
    print_comparisons(found, show)
