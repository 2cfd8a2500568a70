"""`spanwise eval`: measure reading, retrieval, or answers from your own folder, and compare two runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from spanwise.types import AskOptions

from . import options as opt
from .show import aligned, print_json, progress, say, write

if TYPE_CHECKING:
    from ...eval.significance import Alternative
    from ..evaluation.results import SystemComparison

PASSAGES = AskOptions().k
RETRIEVERS = ["tfidf", "bm25", "dense", "hybrid"]
ALPHA = 0.05
MAX_NAMES = 5  # of documents that are not in the index
SHOWN = 3  # questions of a measure that are named, of wins and of losses
WIDTH = 90  # of a printed question

OutOption = Annotated[Path | None, Option(help="Folder for records and figures; the same command resumes.")]
LimitOption = Annotated[int | None, Option(min=1, help="Draw only N questions.", metavar="N")]
SeedOption = Annotated[int, Option(help="Seed of --limit.")]
RetrieversOption = Annotated[
    list[str] | None, Option(metavar="NAME", help="A retriever, e.g. bm25+colbert. Repeatable.")
]
DepthOption = Annotated[int, Option("-k", min=1, help="Passages to read.")]

app = opt.verbs("Measure reading, retrieval, or answers from your own folder.")


@app.command(epilog="Example: spanwise eval squad --data dev-v1.1.json.gz --json")
def squad(
    data: Annotated[Path, Option(help="A SQuAD file, plain or gzipped.")],
    reader: opt.Reader = "builtin",
    limit: LimitOption = None,
    seed: SeedOption = 0,
    predictions: Annotated[
        Path | None, Option(help="Score this predictions file instead of a reader.")
    ] = None,
    na_probs: Annotated[Path | None, Option(help="No-answer probabilities of the predictions.")] = None,
    na_prob_thresh: Annotated[
        float | None,
        Option(help="Decline above this no-answer probability (SQuAD 2.0). Default: 0.5, and 1 for a file."),
    ] = None,
    out: OutOption = None,
    json: opt.Json = False,
) -> None:
    """Score answers on SQuAD's paragraphs as the official scripts do."""
    from .. import evaluation

    if predictions is None and na_probs is not None:
        raise ValueError("--na-probs needs --predictions: a reader gives its own probabilities")
    task = evaluation.open_task(data, limit, seed, na_prob_thresh, notify=say)
    if predictions is not None:
        figures = evaluation.evaluate_predictions(task, predictions, na_probs, out, notify=say)
    else:
        with progress() as report:
            figures = evaluation.evaluate_squad(task, evaluation.load_reader(reader), out, reader, report)
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        is_small = 0 < abs(value) < 0.01  # such as a threshold
        print(f"{name:20} {value if isinstance(value, int) else format(value, '.3g' if is_small else '.2f')}")


@app.command("open", epilog="Example: spanwise eval open --data dev-v1.1.json.gz --retriever hybrid")
def open_domain(
    data: Annotated[list[Path], Option(metavar="FILE", help="A SQuAD file, plain or gzipped. Repeatable.")],
    corpus: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="A SQuAD file with more paragraphs to search. Repeatable."),
    ] = None,
    index: Annotated[
        Path | None, Option(help="Index of the paragraphs, made if missing. Default: in --out.")
    ] = None,
    retriever: RetrieversOption = None,
    rerank: opt.Rerank = False,
    reader: opt.Reader = "builtin",
    k: DepthOption = PASSAGES,
    limit: LimitOption = None,
    read: Annotated[int, Option(min=0, help="Questions to read for EM and F1.")] = 1000,
    seed: SeedOption = 0,
    out: OutOption = None,
    json: opt.Json = False,
) -> None:
    """Find each question's paragraph among all paragraphs, then read: recall, EM, F1, declined questions."""
    from .. import evaluation

    names = opt.reranked(retriever or RETRIEVERS, rerank)
    with progress() as report:
        figures = evaluation.evaluate_open(
            data,
            names,
            out,
            corpus=corpus or (),
            index=index,
            reader=reader,
            k=k,
            limit=limit,
            read_limit=read,
            seed=seed,
            on_progress=report,
        )
    _print_figures(figures, json)


@app.command(epilog="Example: spanwise eval retrieval --data scifact --retriever bm25")
def retrieval(
    data: Annotated[Path, Option(help="A BEIR folder.")],
    retriever: RetrieversOption = None,
    rerank: opt.Rerank = False,
    split: Annotated[str | None, Option(help="The judgements to use. Default: test.")] = None,
    model: Annotated[str, Option(help="The encoder of dense vectors, as for `index`.")] = "base",
    index: Annotated[Path | None, Option(help="Where the index lies. Default: in --out.")] = None,
    out: OutOption = None,
    json: opt.Json = False,
) -> None:
    """Measure retrievers on a test collection, as trec_eval does."""
    from .. import evaluation

    collection = evaluation.open_collection(data, split)
    for gap in collection.gaps:
        say(f"{collection.name}: {gap}")
    names = opt.reranked(retriever or RETRIEVERS, rerank)
    with progress() as report:
        figures = evaluation.evaluate_retrieval(
            collection, names, out, index, model=model, on_progress=report
        )
    _print_figures(figures, json)


@app.command(epilog="Example: spanwise eval folder notes --questions questions.jsonl --json")
@opt.grouped
def folder(
    folder: Annotated[Path, Argument(help="The folder; it is synced first.")],
    questions: Annotated[Path, Option(help="JSON lines, or a SQuAD file whose titles are documents.")],
    index: opt.Index = None,
    retriever: RetrieversOption = None,
    rerank: opt.Rerank = False,
    reader: opt.Reader = "builtin",
    base_url: opt.BaseUrl = "",
    *,
    model: opt.ModelGroup,
    k: DepthOption = PASSAGES,
    threshold: Annotated[
        float | None, Option(min=0.0, max=1.0, help="Minimum confidence of an answer.")
    ] = None,
    dedupe: opt.Dedupe = True,
    out: OutOption = None,
    json: opt.Json = False,
) -> None:
    """Judge the answers to questions about your own folder: right, wrong, declined."""
    from .. import evaluation
    from ..open import open

    examples = evaluation.read_questions(questions)
    options = AskOptions(
        k, reader=reader, threshold=threshold, dedupe=dedupe, base_url=base_url, model=model.options()
    )
    if not model.replay:
        opt.say_what_is_sent([reader], base_url)
    with open(folder, index) as library, progress() as report:
        library.sync(on_progress=report)
        names = opt.reranked(retriever or [library.default_retriever], rerank)
        if missing := evaluation.unindexed_documents(library, examples):
            named = ", ".join(f"{name!r}" for name in list(missing)[:MAX_NAMES])
            say(f"questions name {len(missing)} documents that are not in the index: {named}")
        figures, records = evaluation.evaluate_folder(library, examples, names, out, options, report)
    if json:
        [alone, *others] = figures.values()
        print_json({"systems": figures, "records": records} if others else {**alone, "records": records})
        return
    for record in records if len(figures) == 1 else ():
        answer = " ".join(record["answer"]["text"].split()) if record["answer"] else "(declined)"
        write(f"{record['verdict']:17} {record['question']} -> {answer}")
    _print_figures(figures, json=False)


@app.command(epilog="Example: spanwise eval compare runs/before runs/after --fail-if-worse")
def compare(
    results: Annotated[
        list[Path],
        Argument(metavar="RESULTS...", help="Result folders or records.jsonl; the first is the baseline."),
    ],
    system: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="The two systems, if a folder holds more. Repeatable."),
    ] = None,
    measure: Annotated[
        list[str] | None, Option(metavar="NAME", help="A measure. Repeatable. Default: all.")
    ] = None,
    fail_if_worse: Annotated[
        bool,
        Option("--fail-if-worse", help="Exit with 1 if a measure is worse with p < 0.05 (one-sided)."),
    ] = False,
    json: opt.Json = False,
) -> None:
    """Compare two runs question by question: difference, interval, p-value, wins and losses."""
    from .. import evaluation

    alternative: Alternative = "less" if fail_if_worse else "two-sided"
    comparison = evaluation.compare_results(results, system or (), measure or (), alternative)
    if comparison.left_out:
        say(f"{len(comparison.left_out)} questions left out: not in both runs, or changed")
    if json:
        print_json(comparison.record())
    else:
        _print_comparison(comparison)
    if fail_if_worse and (losses := comparison.losses(ALPHA)):
        say(f"{comparison.system} is worse than {comparison.baseline} by {', '.join(losses)}")
        raise Exit(1)


def _print_figures(figures: Mapping[str, Mapping[str, Any]], json: bool) -> None:
    from ..evaluation.results import table_rows

    if json:
        print_json(figures)
    else:
        write("\n".join(aligned(table_rows(figures))))


def _print_comparison(comparison: SystemComparison) -> None:
    write(f"{comparison.system} against {comparison.baseline} (baseline)")
    rows = ["measure n baseline system diff interval p wins losses ties".split()]
    for name, result in comparison.measures.items():
        interval = "-" if result.interval is None else "{:+.4f} {:+.4f}".format(*result.interval)
        rows.append(
            [
                name,
                f"{result.questions}",
                f"{result.baseline_mean:.4f}",
                f"{result.system_mean:.4f}",
                f"{result.difference:+.4f}",
                interval,
                f"{result.p:.4f}",
                f"{len(result.wins)}",
                f"{len(result.losses)}",
                f"{len(result.ties)}",
            ]
        )
    write("\n".join(aligned(rows)))
    for name, result in comparison.measures.items():
        for kind, changes in (("losses", result.losses), ("wins", result.wins)):
            if changes:
                write(f"{name}, {kind}:")
            for change in changes[:SHOWN]:
                question = shorten(comparison.questions[change.id], WIDTH, placeholder=" …")
                write(f"  {change.difference:+.3f}  {change.id}  {question}")
