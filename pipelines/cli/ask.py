"""`spanwise ask [QUESTION] [FOLDER]`: an answer as an exact quote, or "not in these documents".

Without a question, they are typed at a prompt or read from stdin, one a line, over a library that stays open.
Between two questions no commit is held: a writer can go on, and the next answer is from its last commit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated

import typer

from spanwise.errors import SpanwiseError
from spanwise.types import QUOTE, AskOptions, SummaryOptions

from ..answering.summarize import summary_record
from ..folders import user_cache
from ..json_records import answer_record, explanation_record
from ..library.library import Library
from ..plain_text import visible
from . import options as opt
from .index import encode_in_background, synced
from .show import (
    print_json,
    progress,
    say,
    say_partial,
    show,
    show_answer,
    show_explanation,
    show_summary,
    summarized,
)

PROMPT = "? "
WRITTEN_SENTENCES = 2
HINT = "Type a question. exit, quit, an empty line or Ctrl-D ends, Ctrl-C drops the question, help says this."
MAX_HISTORY = 1000


def ask(
    context: typer.Context,
    question: Annotated[
        str | None, typer.Argument(help="The question. Default: a prompt, or a question a line on stdin.")
    ] = None,
    folder: opt.SyncedFolder = None,
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
    write: Annotated[
        bool, typer.Option("--write", help="Write the answer as sentences with citations.")
    ] = False,
    generator: opt.Generator = QUOTE,
    base_url: opt.BaseUrl = "",
    verbose: opt.Verbose = False,
    ray: opt.Ray = None,
    replicas: opt.Replicas = 1,
    require_all_shards: opt.RequireAll = False,
    no_wait: opt.NoWait = False,
    json: opt.Json = False,
) -> None:
    """Answer a question with an exact quote and its location, or say that the documents do not answer it."""
    if document is not None and not explain:
        raise typer.BadParameter("add --explain", param_hint="--document")
    question, folder = opt.question_and_folder(question, folder, index)
    options = opt.options_of(SummaryOptions, context, document=None, max_sentences=WRITTEN_SENTENCES)
    opt.say_what_is_sent(generator if write else QUOTE, base_url)
    is_prompt = question is None and sys.stdin.isatty() and sys.stdout.isatty()
    with synced(folder, index, verbose, opt.cluster_of(context), not (no_wait or is_prompt)) as library:

        def answer(question: str) -> None:
            if explain:
                _explain(library, question, options, document, json, verbose)
            else:
                show_answered(library, question, options, write, json, verbose)
            sys.stdout.flush()

        if question is not None:
            answer(question)
        elif is_prompt:
            if folder is not None and library.missing_vectors():
                encode_in_background(library)
            _talk(library, answer)
        else:
            _answer_lines(answer, json)


def show_answered(
    library: Library, question: str, options: SummaryOptions, write: bool, json: bool, verbose: bool = False
) -> None:
    """Answer with written sentences, or with a quote, also where none was written."""
    if write:
        written = summarized(library, question, options, is_shown=not json)
        if json or not written.is_refusal:
            say_partial(library.left_out(options))
            print_json(summary_record(written)) if json else show_summary(written)
            return
    with progress(after_s=1) as report:
        answer = library.ask(question, options, on_progress=report)
    print_json(answer_record(answer)) if json else show_answer(answer, verbose)


def _explain(
    library: Library, question: str, options: AskOptions, document: str | None, json: bool, verbose: bool
) -> None:
    with progress(after_s=1) as report:
        report("passages", 0, 0)
        explanation = library.explain(question, options, document)
    print_json(explanation_record(explanation)) if json else show_explanation(explanation, verbose)


def _answer_lines(answer: Callable[[str], None], json: bool) -> None:
    """Answer each line of stdin; an error ends it."""
    n_questions = 0
    for line in filter(None, map(str.strip, sys.stdin)):
        if not json:
            show(("\n" * bool(n_questions) + visible(line), "bold"))
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
    """The typed questions, up to an empty line, `exit`, `quit` or Ctrl-D."""
    with suppress(ImportError):
        _keep_history()
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
        if question.lower() in ("", "exit", "quit"):
            return
        if question.lower() in ("help", "?"):
            say(HINT)
        else:
            yield question


def _keep_history() -> None:
    """Give `input` line editing, and the questions of earlier prompts; ImportError without readline."""
    import atexit
    import readline

    path = user_cache() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        readline.read_history_file(path)
    except OSError as error:
        say(f"no history of questions: {visible(str(error))}")
        return
    readline.set_history_length(MAX_HISTORY)
    atexit.register(readline.write_history_file, path)
