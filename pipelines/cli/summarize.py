"""`spanwise summarize [QUESTION]`: sentences that stand on spans, of what was found or of a document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..summarizing.methods import EXTRACTIVE
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
from .writing import (
    DecodingOption,
    GeneratorOption,
    LengthOption,
    PresetOption,
    SecondsOption,
    StrictOption,
    writing_named,
)

if TYPE_CHECKING:
    from ..summarizing.summary import Citation, Summary, SummarySentence


def summarize(
    question: Annotated[
        str | None,
        typer.Argument(
            help="What the summary is to answer. Without one, a document or all of them are summarized.",
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
            "--document", help="Summarize this one: its id, a path, or the end of its id.", show_default=False
        ),
    ] = None,
    length: LengthOption = "medium",
    generator: GeneratorOption = EXTRACTIVE,
    preset: PresetOption = None,
    decoding: DecodingOption = None,
    seconds: SecondsOption = None,
    strict: StrictOption = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="Show each sentence as soon as it is checked.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown with footnotes instead of text.")
    ] = False,
    retriever: RetrieverOption = RETRIEVER,
    rerank: RerankOption = False,
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages a question is answered from.")] = 20,
    dedupe: DedupeOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    json: JsonOption = False,
) -> None:
    """Summarize what the documents say: every sentence is checked, and cites the spans that carry it."""
    if question is not None and document is not None:
        raise typer.BadParameter("a question is answered from all documents: give a question or --document")
    if stream and (json or markdown):
        raise typer.BadParameter("--stream shows text: leave out --json and --markdown")
    where, model = filter_of(path, type, after, before, meta), rerank_model(rerank, rerank_by)
    writing = writing_named(generator, preset, decoding, seconds)
    with library_of(folder, index) as library:
        sentences = library.summary_sentences(
            *(question, document, length, writing, strict, k, retriever, dedupe, where, model, rerank_depth)
        )
        while True:
            try:
                sentence = next(sentences)
            except StopIteration as end:
                summary: Summary = end.value
                break
            if stream:
                show_sentence(sentence)
        if json:
            from ..summarizing.record import summary_record

            print_json(summary_record(summary))
        elif markdown:
            from ..summarizing.markdown import summary_markdown

            print(summary_markdown(summary))
        elif stream:
            show_rest(summary)
        else:
            show_summary(summary)


def show_summary(summary: Summary) -> None:
    """A summary as a person reads it: its sentences, where they stand, and what was left out."""
    for sentence in summary.sentences:
        show_sentence(sentence)
    show_rest(summary)


def show_sentence(sentence: SummarySentence) -> None:
    """A sentence with the numbers of its citations, and what is wrong with it."""
    from ..summarizing.summary import numbers_of

    words = visible(" ".join(sentence.text.split()))
    numbers = "".join(f"[{number}]" for number in numbers_of(sentence.citations))
    show(words, (f" {numbers}" if numbers else "", "dim"))
    if sentence.findings:
        told = "; ".join(f"{one.words}: {one.reason}" for one in sentence.findings)
        show((f"  {sentence.verdict.value}: {visible(told)}", "bold"))


def show_rest(summary: Summary) -> None:
    """What stands below the sentences: citations, what was dropped, where it comes from."""
    if summary.is_refusal:
        show(("nothing in these documents can be said to that", "bold"))
        if nothing := left_nothing(summary.scope):
            show(f"  {nothing}")
        elif summary.nearest:
            show_nearest(summary.nearest)
    elif summary.citations:
        show("")
    for citation in summary.citations:
        show((f"[{citation.number}] {visible(citation_place(citation))}", "dim"))
    if summary.dropped:
        were = "sentence was" if len(summary.dropped) == 1 else "sentences were"
        show((f"\n{len(summary.dropped)} {were} dropped: nothing carries it", "dim"))
    left = f", {summary.left_out} more did not fit" if summary.left_out else ""
    by = f", {summary.retriever}" if summary.retriever else ""
    stages = ", ".join(f"{stage} {value:.0f} ms" for stage, value in summary.timings_ms.items())
    made_of = "1 passage" if summary.passages == 1 else f"{summary.passages:,} passages"
    show((f"\n{made_of}{left}, {visible(summary.generator)}{by}; {stages}", "dim"))


def citation_place(citation: Citation) -> str:
    """Where a cited span stands: file, page or line, heading path."""
    where = where_in_file(citation.page, citation.line, citation.label)
    heading = " > ".join(citation.passage.heading)
    return ", ".join([citation.span.document_id, where, *([heading] if heading else [])])
