"""`spanwise eval`: figures of the reader, of retrieval with reading, and of a folder of one's own."""

from __future__ import annotations

import json as jsonlib
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ..library import Library, open, open_index
from ..records import answer_record
from .arguments import RETRIEVER, GroupOption, IndexOption, JsonOption, RetrieverOption
from .terminal import console, print_json, progress, say, visible

app = typer.Typer(
    help="Evaluate the reader, retrieval with reading, or a folder of your own.", no_args_is_help=True
)

DataOption = Annotated[
    Path, typer.Option("--data", help="A SQuAD-format file, plain or gzipped.", show_default=False)
]
ReaderOption = Annotated[str, typer.Option(help="builtin, a folder, or name@revision.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Use only so many questions, drawn by the seed.")
]
SeedOption = Annotated[int, typer.Option(help="Which questions --limit draws.")]


@app.command(epilog="Example: spanwise eval squad --data dev-v1.1.json.gz --json")
def squad(
    data: DataOption,
    reader: ReaderOption = "builtin",
    limit: LimitOption = None,
    seed: SeedOption = 0,
    predictions: Annotated[
        Path | None, typer.Option(help="Score this predictions file instead of running a reader.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the predictions there, as the official script reads them.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Score answers on the gold paragraphs as the official SQuAD scripts do."""
    from ...corpora.squad import read_squad
    from ...eval.predictions import read_predictions
    from ..evaluate_squad import evaluate_squad, gold_questions, score

    dataset = read_squad(data)
    if predictions is not None:
        questions = gold_questions(dataset, limit, seed)
        given = read_predictions(predictions)
        missing = sum(question.id not in given for question in questions)
        if missing:
            say(f"{missing} of {len(questions)} questions have no prediction in {predictions}")
        figures = score(dataset.version, questions, given)
    else:
        from ...reader.builtin import load_reader

        with progress() as report:
            figures, given = evaluate_squad(dataset, load_reader(reader), limit, seed, report)
    if save is not None:
        save.write_text(jsonlib.dumps(given, ensure_ascii=False), encoding="utf-8")
    _print(figures, json)


@app.command(
    "open", epilog="Example: spanwise eval open --data dev-v1.1.json.gz --retriever bm25 --retriever hybrid"
)
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
    from ...corpora.squad import read_squad
    from ..evaluate_open import evaluate_open

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


@app.command(epilog="Example: spanwise eval folder notes --questions questions.jsonl --json")
def folder(
    folder: Annotated[Path, typer.Argument(help="The folder; it is synced first.", show_default=False)],
    questions: Annotated[
        Path, typer.Option(help="JSON lines, or a SQuAD-format file whose titles are documents.")
    ],
    index: IndexOption = None,
    retriever: RetrieverOption = RETRIEVER,
    reader: ReaderOption = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    threshold: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Least confidence.")] = None,
    group: GroupOption = True,
    json: JsonOption = False,
) -> None:
    """Judge a folder by its questions: right, wrong, wrongly declined, false answers to absent questions."""
    from ..evaluate_folder import evaluate_folder, summary
    from ..question_files import read_questions

    asked = read_questions(questions)
    with open(folder, index) as library, progress() as report:
        library.sync(report=report)
        judged = evaluate_folder(library, asked, retriever, reader, k, threshold, report, group)
    figures = summary(judged)
    if json:
        records = [
            {"id": j.question.id, "verdict": j.verdict.value, **answer_record(j.answer)} for j in judged
        ]
        print_json({**figures, "records": records})
        return
    for one in judged:
        given = visible(" ".join(one.answer.text.split())) or "(declined)"
        print(f"{one.verdict.value:17} {visible(one.question.question)} -> {given}")
    _print(figures, json=False)


def _paragraphs(dataset: Any, index: Path | None, temporary: Path, names: list[str], report: Any) -> Library:
    from ..paragraph_index import contexts_of, paragraph_library
    from ..sync import sync_vectors

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


def _print(figures: dict[str, Any], json: bool) -> None:
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        print(f"{name:20} {value:.2f}" if isinstance(value, float) else f"{name:20} {value}")


def _table(records: dict[str, dict[str, Any]]) -> None:
    from rich.table import Table

    columns = ["recall@1", "recall@5", "recall@20", "rr", "exact", "f1"]
    table = Table("retriever", *columns, box=None)
    for name, record in records.items():
        table.add_row(name, *["" if record[c] is None else f"{record[c]:.3f}" for c in columns])
    console().print(table)
