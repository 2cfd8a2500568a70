"""`spanwise summarize [QUESTION] [FOLDER]`: a summary in which every sentence cites its spans."""

from __future__ import annotations

from typing import Annotated

import typer

from spanwise.types import EXTRACTIVE, SummaryOptions

from ..summarize import summary_markdown, summary_record
from .options import (
    AfterOption,
    BeforeOption,
    DedupeOption,
    FolderArgument,
    GeneratorOption,
    IndexOption,
    JsonOption,
    MetaOption,
    PathOption,
    RerankModelOption,
    RerankOption,
    RetrieverOption,
    TypeOption,
    filter_of,
    library_of,
    options_of,
    rerank_name,
)
from .show import print_json, show_summary


def summarize(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(help="The question. Default: summarize documents.", show_default=False),
    ] = None,
    folder: FolderArgument = None,
    index: IndexOption = None,
    document: Annotated[
        str | None,
        typer.Option(
            "--document", help="One document: its id, a path, or the end of its id.", show_default=False
        ),
    ] = None,
    max_sentences: Annotated[
        int, typer.Option("--max-sentences", min=1, help="Maximum number of sentences.")
    ] = 5,
    generator: GeneratorOption = EXTRACTIVE,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds a generator may write.", show_default=False)
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Drop sentences without full support.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown with footnotes.")] = False,
    retriever: RetrieverOption = None,
    rerank: RerankOption = False,
    rerank_model: RerankModelOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages for a question.")] = 20,
    dedupe: DedupeOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    json: JsonOption = False,
) -> None:
    """Summarize documents, or what they say about a question. Every sentence is checked and cited."""
    if question is not None and document is not None:
        raise typer.BadParameter("a question uses all documents: pass a question or --document")
    options = options_of(
        SummaryOptions,
        context,
        k=k,
        retriever=retriever or "",
        rerank=rerank_name(rerank, rerank_model),
        dedupe=dedupe,
        where=filter_of(path, type, after, before, meta),
        document=document,
        max_sentences=max_sentences,
        generator=generator,
        strict=strict,
        timeout_s=timeout,
    )
    with library_of(folder, index) as library:
        summary = library.summarize(question, options)
    if json:
        print_json(summary_record(summary))
    elif markdown:
        print(summary_markdown(summary))
    else:
        show_summary(summary)
