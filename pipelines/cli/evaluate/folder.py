"""`spanwise eval folder`: a folder of one's own is judged by its questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...library import open
from ...records import answer_record
from ..arguments import RETRIEVER, GroupOption, IndexOption, JsonOption, RetrieverOption
from ..terminal import print_json, progress, visible
from .options import ReaderOption, print_figures


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
    from ...evaluation.folder import evaluate_folder, summary
    from ...question_files import read_questions

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
    print_figures(figures, json=False)
