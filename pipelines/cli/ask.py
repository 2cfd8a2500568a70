"""`spanwise ask QUESTION [FOLDER]`: the answer as a span, or an honest "not in these documents"."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spanwise.types import Answer, AnswerSpan

from ..library import Library, checked_question
from ..records import answer_record
from .arguments import (
    RETRIEVER,
    CacheOption,
    GroupOption,
    IndexOption,
    JsonOption,
    RetrieverOption,
    library_of,
)
from .index import run_sync, say_report
from .search import place, repeated, where_in_file
from .terminal import console, print_json, say, visible


def ask(
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder to sync and ask; else the nearest index upward.", show_default=False),
    ] = None,
    index: IndexOption = None,
    retriever: RetrieverOption = RETRIEVER,
    reader: Annotated[
        str, typer.Option(help="builtin, a folder, or name@revision of a question-answering model.")
    ] = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    alternatives: Annotated[int, typer.Option(min=0, help="How many other answers are shown.")] = 3,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Least confidence that is shown; 0 always answers. Default: the fitted one.",
        ),
    ] = None,
    group: GroupOption = True,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Ask a question: the exact words that answer it and where they stand, or that they are not there."""
    asked = checked_question(question)
    with library_of(folder, index, cache) as library:
        if folder is not None:
            _bring_up_to_date(library)
        answer = library.ask(asked, k, retriever, reader, alternatives, threshold, group)
        if json:
            print_json(answer_record(answer))
        else:
            _show(answer)


def _bring_up_to_date(library: Library) -> None:
    report = run_sync(library)
    if report.added or report.updated or report.deleted:
        say_report(report)
    else:
        rejected = f", {len(report.rejected)} rejected" if report.rejected else ""
        folders = ", ".join(str(root.folder) for root in library.roots)
        with library.reading() as snapshot:
            n_documents = snapshot.n_documents
        say(f"nothing changed in {visible(folders)}: {n_documents} documents{rejected}")


def _show(answer: Answer) -> None:
    out = console()
    if answer.best is None:
        out.print("not in these documents", style="bold")
        _show_nearest(out, answer)
    else:
        _show_one(out, answer.best)
        if answer.alternatives:
            out.print("\nother answers", style="dim")
        for other in answer.alternatives:
            out.print(
                f"  {visible(' '.join(other.text.split()))}{_confidence(other)}  ", end="", markup=False
            )
            out.print(visible(place(other.passage)), style="dim", markup=False)
    stages = ", ".join(f"{stage} {value:.0f} ms" for stage, value in answer.timings_ms.items())
    stages = f"answered before, {stages}" if answer.cached else stages
    out.print(
        f"\n{answer.passages_searched} passages, {answer.retriever}; {stages}", style="dim", markup=False
    )


def _show_one(out: Any, best: AnswerSpan) -> None:
    from rich.text import Text

    out.print(visible(best.text), style="bold green", markup=False)
    if best.sentence.text != best.text:
        quote = Text(visible(best.sentence.text))
        quote.highlight_words([visible(best.text)], "bold green")
        out.print(Text("  “") + quote + Text("”"))
    score = f"score {best.score:.2f}{_confidence(best)}"
    out.print(f"  {visible(answer_place(best))}  ({score})", style="dim", markup=False)
    if best.duplicates:
        out.print(f"  {visible(repeated(best.duplicates))}", style="dim", markup=False)


def _show_nearest(out: Any, answer: Answer) -> None:
    if answer.best_rejected is not None:
        rejected = answer.best_rejected
        out.print(
            f"  nearest, but rejected{_confidence(rejected)}: {visible(' '.join(rejected.text.split()))}",
            markup=False,
        )
        out.print(f"    {visible(answer_place(rejected))}", style="dim", markup=False)
    out.print("  passages to look at:")
    for hit in answer.nearest:
        out.print(f"    {visible(place(hit.passage))}", style="dim", markup=False)


def answer_place(answer: AnswerSpan) -> str:
    """Where an answer stands: file, label, page or line of its first character, heading path."""
    where = where_in_file(answer.page, answer.line, answer.label)
    heading = " > ".join(answer.passage.heading)
    return ", ".join([answer.span.document_id, where, *([heading] if heading else [])])


def _confidence(answer: AnswerSpan) -> str:
    return "" if answer.confidence is None else f", confidence {answer.confidence:.0%}"
