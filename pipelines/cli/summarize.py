"""`spanwise summarize [QUESTION] [FOLDER]`: a summary in which every sentence cites its spans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanwise.types import EXTRACTIVE, Citation, Summary, SummaryOptions

from ..summarize import summary_markdown, summary_record
from .arguments import (
    RETRIEVER,
    DedupeOption,
    IndexOption,
    JsonOption,
    RetrieverOption,
    library_of,
)
from .declined import show_nearest
from .filters import (
    AfterOption,
    BeforeOption,
    MetaOption,
    PathOption,
    TypeOption,
    filter_of,
    left_nothing,
)
from .reranking import RERANK_DEPTH, RerankDepthOption, RerankModelOption, RerankOption, rerank_model
from .search import where_in_file
from .terminal import print_json, show, visible
from .writing import GeneratorOption, MaxSentencesOption, StrictOption, TimeoutOption


def summarize(
    question: Annotated[
        str | None,
        typer.Argument(
            help="The question. Without one, summarize a document or all documents.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder with an index; else the nearest one upward.", show_default=False),
    ] = None,
    index: IndexOption = None,
    document: Annotated[
        str | None,
        typer.Option(
            "--document", help="One document: its id, a path, or the end of its id.", show_default=False
        ),
    ] = None,
    max_sentences: MaxSentencesOption = 5,
    generator: GeneratorOption = EXTRACTIVE,
    timeout: TimeoutOption = None,
    strict: StrictOption = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown with footnotes instead of text.")
    ] = False,
    retriever: RetrieverOption = RETRIEVER,
    rerank: RerankOption = False,
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages for a question.")] = 20,
    dedupe: DedupeOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    json: JsonOption = False,
) -> None:
    """Summarize documents, or what they say to a question. Every sentence is checked and cites its spans."""
    if question is not None and document is not None:
        raise typer.BadParameter("a question is answered from all documents: give a question or --document")
    options = SummaryOptions(
        k=k,
        retriever=retriever or "",
        rerank=rerank_model(rerank, rerank_by) or "",
        rerank_depth=rerank_depth,
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


def show_summary(summary: Summary) -> None:
    """Prints a summary for a person: its sentences, their places, and what was dropped or left out."""
    for sentence in summary.sentences:
        show(visible(sentence.cited))
        if sentence.findings:
            found = "; ".join(f"{one.words}: {one.reason}" for one in sentence.findings)
            show((f"  {sentence.verdict.value}: {visible(found)}", "bold"))
    if summary.is_refusal:
        show(("not in these documents", "bold"))
        if nothing := left_nothing(summary.scope):
            show(f"  {nothing}")
        elif summary.nearest:
            show_nearest(summary.nearest)
    elif summary.citations:
        show("")
    for citation in summary.citations:
        show((f"[{citation.number}] {visible(citation_place(citation))}", "dim"))
    if summary.dropped:
        show((f"\nunsupported sentences dropped: {len(summary.dropped)}", "dim"))
    left = f", {summary.left_out} more did not fit into the prompt" if summary.left_out else ""
    by = f", {summary.retriever}" if summary.retriever else ""
    stages = ", ".join(f"{stage} {value:.0f} ms" for stage, value in summary.timings_ms.items())
    passages = "1 passage" if summary.passages == 1 else f"{summary.passages:,} passages"
    show((f"\n{passages}{left}, {visible(summary.generator)}{by}; {stages}", "dim"))


def citation_place(citation: Citation) -> str:
    """The place of a cited span: file, page or line, headings."""
    where = where_in_file(citation.page, citation.line, citation.label)
    heading = " > ".join(citation.passage.heading)
    return ", ".join([citation.span.document_id, where, *([heading] if heading else [])])
