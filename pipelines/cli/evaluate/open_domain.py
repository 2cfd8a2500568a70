"""`spanwise eval open`: each question's paragraph is found among all of them, then read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
from ..terminal import console, print_json, progress
from .kept import OutOption, kept
from .options import ColbertOption, LimitOption, ReaderOption, SeedOption

NESTED = ("ms", "reliability")
RETRIEVERS = ["tfidf", "bm25", "dense", "hybrid"]


def open_domain(
    data: Annotated[
        list[Path],
        typer.Option(
            help="A SQuAD-format file, plain or gzipped; may be given several times.", show_default=False
        ),
    ],
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="A SQuAD-format file whose paragraphs are searched too, its questions not asked."),
    ] = None,
    index: Annotated[
        Path | None,
        typer.Option(help="Where the index of the paragraphs is, or will be made. Default: in --out."),
    ] = None,
    out: OutOption = None,
    retriever: Annotated[
        list[str] | None,
        typer.Option(help="A retriever to measure, such as bm25+colbert; may be given several times."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The encoder of a new index.")] = None,
    colbert: ColbertOption = "builtin",
    rerank: RerankOption = False,
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    reader: ReaderOption = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    limit: LimitOption = None,
    read: Annotated[
        int, typer.Option(min=0, help="How many of the questions are read for EM and F1.")
    ] = 1000,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Find each question's paragraph among all of the files, then read: recall, EM, F1, abstention, times."""
    from ...evaluation.open_run import run_open

    with kept(out) as folder, progress() as report:
        figures = run_open(
            data,
            folder,
            reranked_names(retriever or RETRIEVERS, rerank, rerank_by),
            corpus or (),
            index,
            model,
            reader,
            k,
            limit,
            read,
            seed,
            report,
            colbert,
            reranking(rerank_by, rerank_depth),
        )
    if json:
        print_json(figures)
    else:
        _table(figures)


def _table(figures: dict[str, dict[str, Any]]) -> None:
    """One row a figure, one column a retriever."""
    from rich.table import Table

    rows = {name: _flat(record) for name, record in figures.items()}
    table = Table("", *rows, box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for figure in dict.fromkeys(figure for row in rows.values() for figure in row):
        table.add_row(figure, *[_shown(figure, row.get(figure)) for row in rows.values()])
    console().print(table)
    for name, record in figures.items():
        for line in _confidence_lines(record):
            print(f"{name}: {line}")


def _confidence_lines(record: dict[str, Any]) -> list[str]:
    """The reliability of the confidences."""
    lines = [
        f"confidence {one['confidence']:.3f}, right {one['accuracy']:.3f}, {one['count']:,} answers"
        for one in record.get("reliability", ())
    ]
    return lines


def _flat(record: dict[str, Any]) -> dict[str, float]:
    stages = {f"ms to {stage}": value for stage, value in record["ms"].items()}
    return {**{name: value for name, value in record.items() if name not in NESTED}, **stages}


def _shown(figure: str, value: float | None) -> str:
    if value is None or isinstance(value, int):
        return "" if value is None else f"{value:,}"
    return f"{value:.1f}" if figure.startswith(("exact", "f1", "ms")) else f"{value:.3f}"
