"""`spanwise eval gate`: fails when the present system is significantly worse than its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..arguments import (
    RETRIEVER,
    GroupOption,
    IndexOption,
    JsonOption,
    RetrieverOption,
    library_of,
)
from ..terminal import print_json, progress, say, visible
from .comparison_table import print_comparisons, tell
from .kept import OutOption, kept
from .options import (
    MeasureOption,
    PermutationsOption,
    PredictionsDataOption,
    QrelsOption,
    ReaderOption,
    ShowOption,
    SystemOption,
    TestSeedOption,
)


def gate(
    baseline: Annotated[
        Path, typer.Option(help="What must not get worse: a result folder or a TREC run.", show_default=False)
    ],
    questions: Annotated[
        Path | None,
        typer.Argument(
            help="Questions about a folder (JSON lines or SQuAD format), or a test collection's folder.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Results made already, instead of asking the present system.", show_default=False),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="The folder asked about; it is synced first.", show_default=False)
    ] = None,
    index: IndexOption = None,
    retriever: RetrieverOption = RETRIEVER,
    reader: ReaderOption = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    threshold: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Least confidence.")] = None,
    group: GroupOption = True,
    out: OutOption = None,
    split: Annotated[
        str | None, typer.Option(help="Which queries of a test collection.", show_default=False)
    ] = None,
    system: SystemOption = None,
    measure: MeasureOption = None,
    qrels: QrelsOption = None,
    data: PredictionsDataOption = None,
    alpha: Annotated[float, typer.Option(help="How often it may fail when nothing became worse.")] = 0.05,
    permutations: PermutationsOption = 10_000,
    seed: TestSeedOption = 0,
    junit: Annotated[
        Path | None, typer.Option(help="Write a JUnit file, one test case a measure.", show_default=False)
    ] = None,
    show: ShowOption = 3,
    json: JsonOption = False,
) -> None:
    """Fail (exit 1) only when a measure fell significantly below the baseline, question by question."""
    from ....eval.significance.comparison import Method
    from ...evaluation.compare import told
    from ...evaluation.gate import gate as judge
    from ...evaluation.gate import gate_record, require_alpha, restricted
    from ...evaluation.gate_run import Present, missing_baseline, question_ids, read_gate_questions
    from ...evaluation.junit import junit_xml
    from ...evaluation.scored_files import read_sources, read_truth

    if not baseline.exists():
        raise ValueError(missing_baseline(baseline, questions, folder))
    require_alpha(alpha)
    _require_usage(questions, run, folder, out)
    asked = None if questions is None else read_gate_questions(questions, split)
    truth, measures = read_truth(data, qrels, asked), measure or ()
    with kept(out) as place:
        if run is None:
            read_sources([baseline], truth, measures)  # what is wrong with it shows before minutes are spent
            present = Present(retriever, reader, k, threshold, group)
            tell(_ask(asked, place, folder, index, present, measures))
        before, after = read_sources([baseline, run or place], truth, measures)
    if run is not None and asked is not None:
        before, after = (restricted(source, question_ids(asked)) for source in (before, after))
    tell((*before.notes, *after.notes))
    found = judge(before, after, system or (), measures, alpha, Method("less", permutations, seed))
    tell(told(found.comparisons))
    if junit is not None:
        junit.write_bytes(junit_xml(found))
    if json:
        print_json({**gate_record(found), "permutations": permutations, "seed": seed})
    else:
        print_comparisons(found.comparisons, show)
    _end(found, json)


def _require_usage(questions: Path | None, run: Path | None, folder: Path | None, out: Path | None) -> None:
    if questions is None and run is None:
        raise ValueError("nothing to hold against the baseline: name QUESTIONS to ask, or --run RESULTS")
    if run is not None and out is not None:
        raise ValueError("--out keeps what is asked now, but --run names results made already: leave one out")
    if questions is not None and questions.is_dir() and folder is not None:
        raise ValueError(f"{questions} is a test collection with documents of its own: leave --folder out")


def _ask(
    asked: Any, out: Path, folder: Path | None, index: Path | None, present: Any, measures: Sequence[str]
) -> list[str]:
    """The present system's answers, in `out`; the folder is synced first when it is named."""
    from ....corpora.beir import Collection
    from ...evaluation.gate_run import answer_questions, rank_documents_of

    with progress() as report:
        if isinstance(asked, Collection):
            rank_documents_of(asked, out, present, measures, index, report)
            return []
        with library_of(folder, index) as library:
            if folder is not None:
                library.sync(report=report)
            return answer_questions(library, asked, out, present, report)


def _end(found: Any, json: bool) -> None:
    """Exit 1, with one line that names every significant loss, or say that there is none."""
    from ...evaluation.gate import loss_line

    if found.losses:
        lines = "; ".join(loss_line(one) for one in found.losses)
        say(visible(" ".join(f"spanwise: significant loss: {lines}".split())))
        raise typer.Exit(1)
    if not json:
        print(f"passed: no significant loss at alpha {found.alpha:g}")
