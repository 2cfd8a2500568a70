"""`spanwise eval retrieval`: retrievers, or runs that are there already, on a test collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..arguments import JsonOption
from ..reranking import (
    RERANK_DEPTH,
    RerankDepthOption,
    RerankModelOption,
    RerankOption,
    reranked_names,
    reranking,
)
from ..terminal import console, print_json, progress, say
from .kept import OutOption, kept
from .options import ColbertOption

if TYPE_CHECKING:
    from ....corpora.beir import Collection
    from ...evaluation.result_folder import ResultFolder
    from ...evaluation.retrieval import Figures, RetrievalTest

RETRIEVERS = ("tfidf", "bm25", "dense", "hybrid")
MEASURES = "nDCG@10 R@100 RR AP P@10"


def retrieval(
    data: Annotated[
        Path | None,
        typer.Option(help="BEIR folder of a test collection."),
    ] = None,
    retriever: Annotated[
        list[str] | None,
        typer.Option(help="A retriever to measure, such as bm25+colbert; may be given several times."),
    ] = None,
    measures: Annotated[str, typer.Option(help="Measures as ir_measures spells them.")] = MEASURES,
    split: Annotated[
        str | None, typer.Option(help="Which judgements: by default test, or the only ones there are.")
    ] = None,
    passages: Annotated[
        str, typer.Option(help="whole: each document is one passage; split: cut as files are.")
    ] = "whole",
    depth: Annotated[int, typer.Option(min=1, help="How many documents are ranked for a query.")] = 1000,
    model: Annotated[str, typer.Option(help="The encoder of dense vectors, as for `index`.")] = "base",
    colbert: ColbertOption = "builtin",
    rerank: RerankOption = False,
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    index: Annotated[
        Path | None, typer.Option(help="Where the index is kept; by default in --out.", show_default=False)
    ] = None,
    out: OutOption = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgements instead of the collection's own, TREC or BEIR.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure retrievers on a test collection with judgements, as trec_eval does."""
    from ....eval.ranking.measures import parse_measures
    from ...evaluation.retrieval import RetrievalTest

    wanted, how = parse_measures(measures), reranking(rerank_by, rerank_depth)
    collection = _collection(data, split, qrels)
    test = RetrievalTest(collection, wanted, passages, depth, model, colbert, how)
    names = reranked_names(retriever or RETRIEVERS, rerank, rerank_by)
    figures = _measure(test, list(dict.fromkeys(names)), index, out)
    if json:
        print_json(figures)
    else:
        _table(figures)


def _collection(data: Path | None, split: str | None, qrels: Path | None) -> Collection:
    """The collection, with other judgements where they are given; what is odd about it is said."""
    from ....eval.ranking.qrels import read_qrels
    from ...evaluation.retrieval import open_collection

    if data is None:
        raise ValueError("--data is missing: the folder of a test collection (or both --run and --qrels)")
    collection = open_collection(data, split)
    if qrels is not None:
        collection = replace(collection, qrels=read_qrels(qrels))
    for note in collection.gaps:
        say(f"{collection.name}: {note}")
    return collection


def _measure(test: RetrievalTest, names: Sequence[str], index: Path | None, out: Path | None) -> Figures:
    with (
        _results(out, test.settings) as results,
        progress() as report,
        test.library(index or results.path / "index", names, report) as library,
    ):
        if beyond := {gap.document_id for gap in library.gaps()}:
            say(
                f"dense vectors stand for the beginning of {len(beyond):,} documents, which exceed the window"
            )
        return test.run(library, names, results, report)


@contextmanager
def _results(out: Path | None, settings: dict[str, Any]) -> Iterator[ResultFolder]:
    from ...evaluation.result_folder import ResultFolder

    with kept(out) as folder, ResultFolder.start(folder, "retrieval", settings) as results:
        yield results


def _table(figures: Figures) -> None:
    from rich.table import Table

    columns = list(next(iter(figures.values())))
    table = Table("", *columns, box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, record in figures.items():
        table.add_row(name, *[f"{record[column]:.4f}" for column in columns])
    console().print(table)
