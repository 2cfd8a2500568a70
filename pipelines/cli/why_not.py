"""`spanwise why-not DOCUMENT QUESTION`: at which stage a document was lost that should have answered."""

from __future__ import annotations

from typing import Annotated

import typer

from ..explaining.stage_ranks import StageRank
from ..why_not.loss import WhyNot
from ..why_not.record import why_not_record
from ..why_not.sought import Sought
from .arguments import (
    RETRIEVER,
    ExactOption,
    GroupOption,
    IndexOption,
    JsonOption,
    ReadAllOption,
    RetrieverOption,
    library_of,
)
from .evidence import evidence_lines
from .filters import AfterOption, BeforeOption, MetaOption, PathOption, TypeOption, filter_of
from .reranking import RERANK_DEPTH, RerankDepthOption, RerankModelOption, RerankOption, rerank_model
from .search import place
from .terminal import print_json, show, visible


def why_not(
    document: Annotated[
        str, typer.Argument(help="Its id, a path, or the end of its id.", show_default=False)
    ],
    question: Annotated[
        str, typer.Argument(help="The question it should have answered.", show_default=False)
    ],
    span: Annotated[
        str | None, typer.Option("--span", metavar="TEXT", help="The words of it that should have answered.")
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
        float | None, typer.Option(min=0.0, max=1.0, help="Least confidence that is shown, as for ask.")
    ] = None,
    group: GroupOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    exact: ExactOption = False,
    read_all: ReadAllOption = False,
    json: JsonOption = False,
) -> None:
    """Say at which stage a document is lost that should have answered a question, asked as ask would."""
    where, model = filter_of(path, type, after, before, meta), rerank_model(rerank, rerank_by)
    with library_of(None, index, cache=False) as library:
        library.exact = exact
        given = (span, k, retriever, reader, alternatives, threshold, group, where, model, rerank_depth)
        lost = library.why_not(document, question, *given, read_all)
    print_json(why_not_record(lost)) if json else show_loss(lost)


def show_loss(lost: WhyNot) -> None:
    """The stage first, then what was found on the way to it."""
    show((f"{visible(lost.document)}: {lost.stage}", "bold"))
    show(f"  {visible(lost.reason)}")
    for line in filter(None, (lost.advice, *lost.remarks)):
        show(f"  {visible(line)}")
    if lost.lacks:
        show(f"  it lacks {visible(', '.join(lost.lacks))}")
    if lost.ranks:
        show(("\nits best passage in the ranking of", "dim"))
    for rank in lost.ranks:
        show("  ", visible(_said_of_rank(rank)))
    for title, weighed in (("its best words", lost.own), ("the best words of all", lost.winner)):
        if weighed is not None:
            show((f"\n{title}", "dim"))
            show(*evidence_lines(weighed))
    for sought in lost.sought:
        show((f"\nthe words at {sought.span.start}-{sought.span.end}", "dim"))
        show(f"  {visible(_said_of_words(sought))}")


def _said_of_rank(rank: StageRank) -> str:
    if rank.rank is not None and rank.passage is not None and rank.score is not None:
        return f"{rank.stage}: {rank.rank} of {rank.depth}, score {rank.score:.4f}, {place(rank.passage)}"
    if rank.score is not None:
        return f"{rank.stage}: below the first {rank.depth}, score {rank.score:.4f}"
    return f"{rank.stage}: not found: no common word, no vector yet, or below the first {rank.depth}"


def _said_of_words(sought: Sought) -> str:
    if not sought.passages:
        where = (
            f"cut apart: {len(sought.cut)} passages hold a part of them" if sought.cut else "in no passage"
        )
    elif sought.rank is None:
        where = f"whole in {len(sought.passages)} passages, none of which was read"
    else:
        where = f"whole in {len(sought.passages)} passages, the best of which was read at rank {sought.rank}"
    if sought.rank is None:
        return where
    if sought.proposed is None:
        return f"{where}; the reader proposed nothing there"
    words = " ".join(sought.proposed.span.text.split())
    return f"{where}; the reader proposed {words!r}, score {sought.proposed.score:.2f}"
