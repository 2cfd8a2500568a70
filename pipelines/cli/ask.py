"""`spanwise ask [QUESTION] [FOLDER]`: an answer as an exact quote, or "not in these documents".

Without a question, they are typed at a prompt or read from stdin, one a line, over a library that stays open.
Between two questions no commit is held: a writer can go on, and the next answer is from its last commit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from spanwise.errors import SpanwiseError
from spanwise.types import EXTRACTIVE, AskOptions, SummaryOptions

from ..library import Library
from ..records import answer_record
from ..summarize import summary_record
from ..visible import visible
from .index import say_report
from .options import (
    AfterOption,
    BeforeOption,
    DedupeOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    MetaOption,
    PathOption,
    ReaderOption,
    RerankModelOption,
    RerankOption,
    RetrieverOption,
    TypeOption,
    filter_of,
    library_of,
    options_of,
    rerank_name,
)
from .show import print_json, progress, say, show, show_answer, show_explanation, show_summary

PROMPT = "? "
WRITTEN_SENTENCES = 2
HINT = "Type a question. An empty line or Ctrl-D ends, Ctrl-C drops the question."


def ask(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            help="The question. Default: a prompt, or a question a line on stdin.", show_default=False
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder to sync first. Default: the nearest index upward.", show_default=False),
    ] = None,
    index: IndexOption = None,
    retriever: RetrieverOption = None,
    rerank: RerankOption = False,
    rerank_model: RerankModelOption = None,
    reader: ReaderOption = "builtin",
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages to read.")] = 20,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Minimum confidence for an answer (0 = always answer). Default: the fitted one.",
            show_default=False,
        ),
    ] = None,
    dedupe: DedupeOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show evidence and ranks by stage.")] = False,
    document: Annotated[
        str | None,
        typer.Option(
            help="With --explain: the stage at which this document was lost. An id, a path, or its end.",
            show_default=False,
        ),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the answer as sentences with citations.")
    ] = False,
    generator: GeneratorOption = EXTRACTIVE,
    json: JsonOption = False,
) -> None:
    """Answer a question with an exact quote and its location, or say that the documents do not answer it."""
    if document is not None and not explain:
        raise typer.BadParameter("add --explain", param_hint="--document")
    options = options_of(
        AskOptions,
        context,
        k=k,
        retriever=retriever or "",
        rerank=rerank_name(rerank, rerank_model),
        dedupe=dedupe,
        where=filter_of(path, type, after, before, meta),
        reader=reader,
        threshold=threshold,
    )
    with library_of(folder, index) as library:
        if folder is not None:
            _sync(library)

        def answer(question: str) -> None:
            if explain:
                _explain(library, question, options, document, json)
                return
            with progress(after_s=2) as report:
                found = library.ask(question, options, on_progress=report)
            if write and found.best is not None:
                _write(library, question, options, generator, json)
            else:
                print_json(answer_record(found)) if json else show_answer(found)
            sys.stdout.flush()

        def answer_line(question: str) -> None:
            if not (json or sys.stdin.isatty()):
                show((f"\n? {visible(question)}", "bold"))
            answer(question)

        if question is None:
            _converse(library, answer_line)
        else:
            answer(question)


def _explain(library: Library, question: str, options: AskOptions, document: str | None, json: bool) -> None:
    from ..records import explanation_record

    explanation = library.explain(question, options, document)
    print_json(explanation_record(explanation)) if json else show_explanation(explanation)


def _write(library: Library, question: str, options: AskOptions, generator: str, json: bool) -> None:
    shared = {one.name: getattr(options, one.name) for one in fields(AskOptions)}
    how = SummaryOptions(**shared, max_sentences=WRITTEN_SENTENCES, generator=generator)
    written = library.summarize(question, how)
    print_json(summary_record(written)) if json else show_summary(written)


def _sync(library: Library) -> None:
    with progress() as bar:
        report = library.sync(on_progress=bar)
    if report.added or report.updated or report.deleted:
        say_report(report)
        return
    rejected = f", {len(report.rejected)} rejected" if report.rejected else ""
    folders = ", ".join(str(root.folder) for root in library.roots)
    with library.reading() as snapshot:
        n_documents = snapshot.n_documents
    say(f"nothing changed in {visible(folders)}: {n_documents} documents{rejected}")


def _converse(library: Library, answer: Callable[[str], None]) -> None:
    """Answer every question: a typed one may fail, a line of a file that fails ends it."""
    if sys.stdin.isatty():
        _talk(library, answer)
        return
    n_asked = 0
    for line in filter(None, map(str.strip, sys.stdin)):
        answer(line)
        n_asked += 1
    if not n_asked:
        raise ValueError("no question: pass one, or a question a line on stdin, or type one at a terminal")


def _talk(library: Library, answer: Callable[[str], None]) -> None:
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
            question = _read_line().strip()
        except EOFError:
            say("")
            return
        except KeyboardInterrupt:
            say("")
            continue
        if not question:
            return
        yield question


def _read_line() -> str:
    """A line from the terminal; the prompt goes to stderr where stdout is redirected."""
    if sys.stdout.isatty():
        return input(PROMPT)
    print(PROMPT, end="", file=sys.stderr, flush=True)
    if not (line := sys.stdin.readline()):
        raise EOFError
    return line
