"""`spanwise eval generation`: texts that were written, or that are written about a folder, are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...opening import open
from ...summarizing.methods import EXTRACTIVE
from ..arguments import IndexOption, JsonOption, RetrieverOption
from ..terminal import print_json, progress, say
from ..writing import (
    DecodingOption,
    GeneratorOption,
    LengthOption,
    PresetOption,
    SamplesOption,
    SecondsOption,
    StrictOption,
    writing_named,
)
from .kept import OutOption, kept


def generation(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="A folder to write about, for --questions; it is synced first.", show_default=False
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(help="Questions on the folder, as for `eval folder`.", show_default=False),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help='Instead of a folder, texts as JSON lines: "references" or "sources", and "prediction", '
            '"id", "question", "confidence", "canaries", "seconds", "tokens".',
            show_default=False,
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="A JSON object from id to text: the texts of --data to judge.", show_default=False),
    ] = None,
    stem: Annotated[bool, typer.Option("--stem", help="Compare stems of words in ROUGE.")] = False,
    index: IndexOption = None,
    generator: GeneratorOption = EXTRACTIVE,
    preset: PresetOption = None,
    decoding: DecodingOption = None,
    seconds: SecondsOption = None,
    samples: SamplesOption = 1,
    length: LengthOption = "short",
    strict: StrictOption = False,
    retriever: RetrieverOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages a text is written from.")] = 20,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Judge generated texts: by references, by their sources and citations, and by how they are worded."""
    figures: dict[str, Any]
    if data is not None and folder is None and questions is None:
        from ...evaluation.generation import evaluate_generation

        with kept(out) as place, progress() as report:
            figures = dict(evaluate_generation(data, place, predictions, stem, report, tell=say))
    elif data is None and folder is not None and questions is not None:
        from ...evaluation.written_folder import evaluate_written
        from ...question_files import read_questions

        asked, writing = (
            read_questions(questions),
            writing_named(generator, preset, decoding, seconds, samples),
        )
        with kept(out) as place, open(folder, index) as library, progress() as report:
            library.sync(on_progress=report)
            given = (length, writing, strict, k, retriever, report)
            figures = evaluate_written(library, asked, place, *given)
    else:
        raise typer.BadParameter("give texts with --data, or a folder with --questions")
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        if not name.endswith(("_precision", "_recall")) or name.startswith("citation"):
            print(f"{name:20} {value:.4f}" if isinstance(value, float) else f"{name:20} {value}")
