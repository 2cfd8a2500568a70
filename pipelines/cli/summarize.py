"""`spanwise summarize [QUESTION] [FOLDER]`: sentences that cite their spans, or an overview."""

from __future__ import annotations

from typing import Annotated

import typer

from spanwise.types import QUOTE, SummaryOptions

from ..answering.summarize import summary_record
from . import options as opt
from .ask import show_answered
from .index import synced
from .show import print_json, show_summary, summarized


def summarize(
    context: typer.Context,
    question: Annotated[
        str | None, typer.Argument(help="The question. Default: an overview of documents.")
    ] = None,
    folder: opt.SyncedFolder = None,
    index: opt.Index = None,
    document: Annotated[
        str | None, typer.Option(help="One document: its id, a path, or the end of its id.")
    ] = None,
    max_sentences: Annotated[int, typer.Option(min=1, help="Maximum number of sentences.")] = 5,
    generator: opt.Generator = QUOTE,
    base_url: opt.BaseUrl = "",
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Seconds a generator may write.")] = None,
    retriever: opt.Retriever = None,
    rerank: opt.Rerank = False,
    rerank_model: opt.RerankModel = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages for a question.")] = 20,
    dedupe: opt.Dedupe = True,
    path: opt.PathFilter = None,
    type: opt.TypeFilter = None,
    after: opt.AfterFilter = None,
    before: opt.BeforeFilter = None,
    meta: opt.MetaFilter = None,
    no_wait: opt.NoWait = False,
    json: opt.Json = False,
) -> None:
    """Summarize what documents say about a question, or list what they are about."""
    question, folder = opt.question_and_folder(question, folder, index)
    if question is not None and document is not None:
        raise typer.BadParameter("a question uses all documents: pass a question or --document")
    options = opt.options_of(SummaryOptions, context, timeout_s=timeout)
    opt.say_what_is_sent(generator, base_url)
    with synced(folder, index, wait=not no_wait) as library:
        if question is not None:
            return show_answered(library, question, options, True, json)
        summary = summarized(library, None, options, is_shown=not json)
        print_json(summary_record(summary)) if json else show_summary(summary)
