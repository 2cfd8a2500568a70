"""`spanwise eval folder`: a folder of one's own is judged by its questions, with one retriever or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...open import open
from ..arguments import DEFAULT_HELP, DedupeOption, IndexOption, JsonOption
from ..reranking import (
    RERANK_DEPTH,
    RerankDepthOption,
    RerankModelOption,
    RerankOption,
    reranked_names,
    reranking,
)
from ..terminal import print_json, progress, say, visible
from .choice_table import print_choice
from .kept import OutOption, kept
from .options import ReaderOption, print_figures

NAMED = 5


def folder(
    folder: Annotated[Path, typer.Argument(help="The folder; it is synced first.", show_default=False)],
    questions: Annotated[
        Path, typer.Option(help="JSON lines, or a SQuAD-format file whose titles are documents.")
    ],
    index: IndexOption = None,
    retriever: Annotated[
        list[str] | None,
        typer.Option(
            help="What finds the passages, such as bm25+colbert; bm25+rerank has the cross-encoder behind "
            f"it. Given several times, each is compared with the first. {DEFAULT_HELP}",
            show_default=False,
        ),
    ] = None,
    rerank: RerankOption = False,
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    colbert: Annotated[
        str | None,
        typer.Option(
            help="The model of token vectors, as for `index`, in an index that keeps none.",
            show_default=False,
        ),
    ] = None,
    reader: ReaderOption = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    threshold: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Least confidence.")] = None,
    dedupe: DedupeOption = True,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Judge a folder by its questions: right, wrong, wrongly declined, false answers to absent questions."""
    from ...evaluation.folder import evaluate_retrievers, unindexed_documents
    from ...evaluation.folder_records import printed_record
    from ...evaluation.result_folder import ResultFolder
    from ...question_files import read_questions

    asked, how = read_questions(questions), reranking(rerank_by, rerank_depth)
    with kept(out) as place, open(folder, index, colbert=colbert) as library, progress() as report:
        library.sync(on_progress=report)
        names = reranked_names(retriever or [library.default_retriever], rerank, rerank_by)
        _warn(unindexed_documents(library, asked))
        figures = evaluate_retrievers(library, asked, place, names, reader, k, threshold, report, dedupe, how)
        records = [printed_record(record) for record in ResultFolder.open(place).records()]
    if len(figures) > 1:
        print_json({"systems": figures, "records": records}) if json else print_choice(figures)
        return
    [alone] = figures.values()
    if json:
        print_json({**alone, "records": records})
    else:
        _print(alone, records)


def _print(figures: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> None:
    for record in records:
        given = visible(" ".join(record["answer"]["text"].split())) if record["answer"] else "(declined)"
        print(f"{record['verdict']:17} {visible(record['question'])} -> {given}")
    print_figures({name: value for name, value in figures.items() if name != "by_type"}, json=False)
    for kind, counts in figures["by_type"].items():
        print(f"{kind:20} {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}")


def _warn(missing: Mapping[str, int]) -> None:
    if missing:
        named = [f"{name!r} in {count}" for name, count in missing.items()]
        more = [f"{len(named) - NAMED} more"] if len(named) > NAMED else []
        what = f"questions name documents that are not in the index ({len(named)}, by number of questions)"
        say(f"{what}: {', '.join(named[:NAMED] + more)}; no answer from there is judged right")
