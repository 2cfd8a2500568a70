"""`spanwise eval squad`: answers on the gold paragraphs, scored as the official scripts do."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from ..terminal import progress, say
from .options import DataOption, LimitOption, ReaderOption, SeedOption, print_figures


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
    from ....corpora.squad import read_squad
    from ....eval.predictions import read_predictions
    from ...evaluation.squad import evaluate_squad, gold_questions, score

    dataset = read_squad(data)
    if predictions is not None:
        questions = gold_questions(dataset, limit, seed)
        given = read_predictions(predictions)
        missing = sum(question.id not in given for question in questions)
        if missing:
            say(f"{missing} of {len(questions)} questions have no prediction in {predictions}")
        figures = score(dataset.version, questions, given)
    else:
        from ....reader.builtin import load_reader

        with progress() as report:
            figures, given = evaluate_squad(dataset, load_reader(reader), limit, seed, report)
    if save is not None:
        save.write_text(jsonlib.dumps(given, ensure_ascii=False), encoding="utf-8")
    print_figures(figures, json)
