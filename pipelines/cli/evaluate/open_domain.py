"""`spanwise eval open`: each question's paragraph is found among all of them, then read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ...library import Library, open_index
from ..arguments import IndexOption, JsonOption
from ..terminal import console, print_json, progress
from .options import DataOption, LimitOption, ReaderOption, SeedOption


def open_domain(
    data: DataOption,
    index: IndexOption = None,
    retriever: Annotated[
        list[str] | None, typer.Option(help="A retriever to measure; may be given several times.")
    ] = None,
    reader: ReaderOption = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    limit: LimitOption = None,
    read: Annotated[
        int, typer.Option(min=0, help="How many of the questions are read for EM and F1.")
    ] = 1000,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Find each question's paragraph among all of the file, then read: recall, MRR, EM and F1."""
    from ....corpora.squad import read_squad
    from ...evaluation.open_domain import evaluate_open

    dataset = read_squad(data)
    names = retriever or ["tfidf", "bm25", "dense", "hybrid"]
    with (
        TemporaryDirectory() as folder,
        progress() as report,
        _paragraphs(dataset, index, Path(folder), names, report) as library,
    ):
        figures = evaluate_open(library, dataset, names, reader, k, limit, read, seed, report)
    records = {name: _open_record(asdict(value)) for name, value in figures.items()}
    if json:
        print_json(records)
    else:
        _table(records)


def _paragraphs(dataset: Any, index: Path | None, temporary: Path, names: list[str], report: Any) -> Library:
    from ...paragraph_index import contexts_of, paragraph_library
    from ...sync import sync_vectors

    if index is not None and index.exists():
        return open_index(index)
    texts = [("", context) for context in contexts_of(dataset.articles)]
    library = paragraph_library(texts, index or temporary / "index")
    if any(part in ("dense", "hybrid") for name in names for part in name.split("+")):
        sync_vectors(library.store, library.encoder, report)
    return library


def _open_record(figures: dict[str, Any]) -> dict[str, Any]:
    recall = {f"recall@{cutoff}": value for cutoff, value in figures.pop("recall").items()}
    return {**recall, **figures}


def _table(records: dict[str, dict[str, Any]]) -> None:
    from rich.table import Table

    columns = ["recall@1", "recall@5", "recall@20", "rr", "exact", "f1"]
    table = Table("retriever", *columns, box=None)
    for name, record in records.items():
        table.add_row(name, *["" if record[c] is None else f"{record[c]:.3f}" for c in columns])
    console().print(table)
