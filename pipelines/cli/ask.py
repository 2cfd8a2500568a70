"""`spanwise ask [QUESTION] [FOLDER]`: the answer as a span, or an honest "not in these documents"."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanwise.types import Answer, AnswerSpan, AskOptions, FilterResult

from ..ask import checked_question
from ..library import Library
from ..records import answer_record
from .arguments import (
    RETRIEVER,
    CacheOption,
    DedupeOption,
    ExactOption,
    IndexOption,
    JsonOption,
    ReadAllOption,
    RetrieverOption,
    library_of,
)
from .conversation import converse
from .declined import answer_place, confidence, show_declined
from .filters import (
    AfterOption,
    BeforeOption,
    MetaOption,
    PathOption,
    TypeOption,
    filter_of,
    left_nothing,
)
from .index import run_sync, say_report
from .reranking import RERANK_DEPTH, RerankDepthOption, RerankModelOption, RerankOption, rerank_model
from .search import place, repeated
from .terminal import print_json, progress, say, show, visible

if TYPE_CHECKING:
    from ..explain import Explanation

SHOWN_PLACES = 3


def ask(
    question: Annotated[
        str | None,
        typer.Argument(
            help="The question. Without one there is a prompt, or stdin holds one a line.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder to sync and ask; else the nearest index upward.", show_default=False),
    ] = None,
    index: IndexOption = None,
    retriever: RetrieverOption = RETRIEVER,
    rerank: RerankOption = False,
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
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
    read_all: ReadAllOption = False,
    dedupe: DedupeOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    exact: ExactOption = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the evidence and the rank of the passage in each stage.")
    ] = False,
    document: Annotated[
        str | None,
        typer.Option(
            help="With --explain: at which stage this document was lost. An id, a path, or the end of an id.",
            show_default=False,
        ),
    ] = None,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Ask a question: the exact words that answer it and where they stand, or that they are not there."""
    asked = None if question is None else checked_question(question)
    where, model = filter_of(path, type, after, before, meta), rerank_model(rerank, rerank_by)
    if document is not None and not explain:
        raise typer.BadParameter("a document is explained with --explain", param_hint="--document")
    with library_of(folder, index, cache) as library:
        if folder is not None:
            _bring_up_to_date(library)

        options = AskOptions(
            k=k,
            retriever=retriever or "",
            rerank=model,
            rerank_depth=rerank_depth,
            dedupe=dedupe,
            where=where,
            exact=exact,
            reader=reader,
            threshold=threshold,
            alternatives=alternatives,
            read_all=read_all,
        )

        def tell(question: str) -> None:
            if explain:
                _explain(library.explain(question, options, document), json)
                return
            with progress(after_s=2) as report:
                answer = library.ask(question, options, on_progress=report)
            print_json(answer_record(answer)) if json else show_answer(answer)
            sys.stdout.flush()

        def tell_of_many(question: str) -> None:
            if not (json or sys.stdin.isatty()):
                show(("\n? " + visible(question), "bold"))
            tell(question)

        if asked is None:
            converse(library, tell_of_many)
        else:
            tell(asked)


def _explain(explanation: Explanation, json: bool) -> None:
    """Shows the answer and its explanation."""
    if json:
        from ..records import explanation_record

        print_json(explanation_record(explanation))
        return
    from .explanation import show_explanation

    show_answer(explanation.answer)
    show_explanation(explanation)


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


def show_answer(answer: Answer) -> None:
    """An answer as a person reads it: the words, their sentence, their place; or that there is none."""
    if answer.best is None:
        show(("not in these documents", "bold"))
        if nothing := left_nothing(answer.scope):
            show(f"  {nothing}")
        else:
            show_declined(answer)
    else:
        _show_one(answer.best)
        if answer.alternatives:
            show(("\nother answers", "dim"))
        for other in answer.alternatives:
            words = visible(" ".join(other.text.split()))
            more = f", and {len(other.also_in)} more" if other.also_in else ""
            show(f"  {words}{confidence(other)}  ", (visible(place(other.passage) + more), "dim"))
    stages = ", ".join(f"{stage} {value:.0f} ms" for stage, value in answer.timings_ms.items())
    stages = f"answered before, {stages}" if answer.cached else stages
    searched = f"{answer.passages_searched} passages{_confined(answer.scope)}"
    show((f"\n{searched}, {answer.retriever}{_left_unread(answer)}; {stages}", "dim"))


def _confined(scope: FilterResult | None) -> str:
    return "" if scope is None else f" in {scope.documents} of {scope.of_documents} documents"


def also_said(agreeing: Sequence[AnswerSpan]) -> str:
    """Where the same is said, too: the first places, and how many more."""
    more = f", and {len(agreeing) - SHOWN_PLACES} more" if len(agreeing) > SHOWN_PLACES else ""
    return f"also said in {'; '.join(map(answer_place, agreeing[:SHOWN_PLACES]))}{more}"


def _left_unread(answer: Answer) -> str:
    n_found = answer.passages_read + answer.passages_unread
    return f", best {answer.passages_read} of {n_found} read" if answer.passages_unread else ""


def _show_one(best: AnswerSpan) -> None:
    words, sentence, short = (visible(span.text) for span in (best.span, best.context, best.answer))
    before, found, after = words.partition(short)
    show((before, "bold"), (found, "bold green"), (after, "bold"))
    if sentence != words:
        before, found, after = sentence.partition(words)
        show("  “", before, (found, "bold green"), after, "”")
    score = f"score {best.score:.2f}{confidence(best)}"
    show((f"  {visible(answer_place(best))}  ({score})", "dim"))
    if best.also_in:
        show((f"  {visible(also_said(best.also_in))}", "dim"))
    if best.duplicates:
        show((f"  {visible(repeated(best.duplicates))}", "dim"))
