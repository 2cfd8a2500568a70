"""`spanwise ask [QUESTION] [FOLDER]`: an answer as an exact quote, or "not in these documents".

Without a question, they are typed at a prompt or read from stdin, one a line, over a library that stays open.
Between two questions no commit is held: a writer can go on, and the next answer is from its last commit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.types import AskOptions

from ..library import Library
from ..records import answer_record, explanation_record
from ..visible import visible
from . import options as opt
from .index import no_documents, say_report
from .show import print_json, progress, say, show, show_answer, show_explanation

PROMPT = "? "
HINT = "Type a question. An empty line or Ctrl-D ends, Ctrl-C drops the question."


def ask(
    context: typer.Context,
    question: Annotated[
        str | None, typer.Argument(help="The question. Default: a prompt, or a question a line on stdin.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Argument(help="A folder to sync first. Default: the nearest index upward.")
    ] = None,
    index: opt.Index = None,
    retriever: opt.Retriever = None,
    rerank: opt.Rerank = False,
    rerank_model: opt.RerankModel = None,
    reader: opt.Reader = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages to read.")] = 20,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Minimum confidence for an answer (0 = always answer). Default: the fitted one.",
        ),
    ] = None,
    dedupe: opt.Dedupe = True,
    path: opt.PathFilter = None,
    type: opt.TypeFilter = None,
    after: opt.AfterFilter = None,
    before: opt.BeforeFilter = None,
    meta: opt.MetaFilter = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show evidence and ranks by stage.")] = False,
    document: Annotated[
        str | None,
        typer.Option(
            help="With --explain: the stage at which this document was lost. An id, a path, or its end."
        ),
    ] = None,
    verbose: opt.Verbose = False,
    json: opt.Json = False,
) -> None:
    """Answer a question with an exact quote and its location, or say that the documents do not answer it."""
    if document is not None and not explain:
        raise typer.BadParameter("add --explain", param_hint="--document")
    options = opt.options_of(AskOptions, context)
    with opt.library_of(folder, index) as library:
        if folder is not None:
            _sync(library, verbose)

        def answer(question: str) -> None:
            if explain:
                _explain(library, question, options, document, json, verbose)
            else:
                _answer(library, question, options, json, verbose)
            sys.stdout.flush()

        if question is not None:
            answer(question)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            _talk(library, answer)
        else:
            _answer_lines(answer, json)


def _answer(library: Library, question: str, options: AskOptions, json: bool, verbose: bool) -> None:
    with progress(after_s=2) as report:
        answer = library.ask(question, options, on_progress=report)
    print_json(answer_record(answer)) if json else show_answer(answer, verbose)


def _explain(
    library: Library, question: str, options: AskOptions, document: str | None, json: bool, verbose: bool
) -> None:
    explanation = library.explain(question, options, document)
    print_json(explanation_record(explanation)) if json else show_explanation(explanation, verbose)


def _sync(library: Library, verbose: bool) -> None:
    with progress() as bar:
        report = library.sync(on_progress=bar)
    if report.added or report.updated or report.deleted:
        say_report(report)
        return
    rejected = f", {len(report.rejected)} rejected" if report.rejected else ""
    folders = ", ".join(str(root.folder) for root in library.roots)
    with library.reading() as snapshot:
        n_documents = snapshot.n_documents
    if not n_documents:
        raise DocumentRejected(no_documents(library, report))
    if verbose:
        say(f"nothing changed in {visible(folders)}: {n_documents} documents{rejected}")


def _answer_lines(answer: Callable[[str], None], json: bool) -> None:
    """Answer each line of stdin; an error ends it."""
    n_questions = 0
    for line in filter(None, map(str.strip, sys.stdin)):
        if not json:
            show((f"\n? {visible(line)}", "bold"))
        answer(line)
        n_questions += 1
    if not n_questions:
        raise ValueError("no question: pass one, or a question a line on stdin, or type one at a terminal")


def _talk(library: Library, answer: Callable[[str], None]) -> None:
    """Answer typed questions; an error ends its question only."""
    seen: int | None = None
    for question in _typed():
        try:
            with library.reading() as snapshot:
                now, n_documents = snapshot.generation, snapshot.n_documents
            if seen not in (None, now):
                say(f"the index was updated: {n_documents} documents")
            seen = now
            answer(question)
        except KeyboardInterrupt:
            say("\ndropped")
        except (SpanwiseError, ValueError) as error:
            say(f"spanwise: {visible(' '.join(str(error).split()))}")


def _typed() -> Iterator[str]:
    """The typed questions, up to an empty line or Ctrl-D."""
    with suppress(ImportError):
        import readline  # noqa: F401 (gives `input` a history and the arrow keys)
    say(HINT)
    while True:
        try:
            question = input(PROMPT).strip()
        except EOFError:
            say("")
            return
        except KeyboardInterrupt:
            say("")
            continue
        if not question:
            return
        yield question
