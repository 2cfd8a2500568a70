"""`spanwise search QUESTION`: the passages that come nearest, best first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from spanwise.types import Hit, Passage, SearchOptions

from ..ask import checked_question
from ..records import search_record
from .arguments import (
    RETRIEVER,
    CacheOption,
    DedupeOption,
    ExactOption,
    IndexOption,
    JsonOption,
    RetrieverOption,
    library_of,
)
from .filters import (
    AfterOption,
    BeforeOption,
    MetaOption,
    PathOption,
    TypeOption,
    filter_of,
    left_nothing,
)
from .reranking import (
    RERANK_DEPTH,
    RerankDepthOption,
    RerankModelOption,
    RerankOption,
    rerank_model,
    reranked_names,
)
from .terminal import console, is_styled, print_json, progress, say, visible

SHOWN_CHARACTERS = 280
SHOWN_DUPLICATES = 3


def search(
    question: Annotated[str, typer.Argument(help="What to look for.", show_default=False)],
    index: IndexOption = None,
    retriever: RetrieverOption = RETRIEVER,
    rerank: RerankOption = False,
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 10,
    dedupe: DedupeOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    exact: ExactOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Search an index: the best passages for a question."""
    asked, where = checked_question(question), filter_of(path, type, after, before, meta)
    model = rerank_model(rerank, rerank_by)
    with library_of(None, index, cache) as library:
        name = retriever or library.default_retriever
        options = SearchOptions(k, name, model, rerank_depth, dedupe, where, exact)
        with progress(after_s=2) as report:
            hits = library.search(asked, options, on_progress=report)
        scope = library.scope(where) if where else None
    if nothing := left_nothing(scope):
        say(nothing)
    if json:
        [name] = reranked_names([name], rerank, rerank_by)
        print_json(search_record(asked, name, hits, scope))
    elif not hits:
        print("nothing found")
    else:
        _show(hits)


def place(passage: Passage) -> str:
    """Where a passage stands: file, page or line, and heading path.

    >>> place(Passage(1, "a.pdf", 0, 1, "x", page=3, heading=("Mill", "History")))
    'a.pdf, page 3, Mill > History'
    """
    where = where_in_file(passage.page, passage.line, passage.label)
    return ", ".join(
        [passage.document_id, where, *([" > ".join(passage.heading)] if passage.heading else [])]
    )


def where_in_file(page: int | None, line: int, label: str) -> str:
    """A place in the words of the file's format: its label, else the page, else the line.

    >>> where_in_file(None, 12, "slide 3")
    'slide 3'
    """
    return label or (f"page {page}" if page is not None else f"line {line}")


def repeated(duplicates: Sequence[Passage]) -> str:
    """How many passages say nearly the same, and the first of their files.

    >>> repeated([Passage(2, "b.txt", 0, 1, "x"), Passage(3, "b.txt", 9, 10, "x")])
    '(and 2 near-duplicates: b.txt)'
    """
    files = list(dict.fromkeys(passage.document_id for passage in duplicates))
    named = ", ".join([*files[:SHOWN_DUPLICATES], *(["…"] if len(files) > SHOWN_DUPLICATES else [])])
    return f"(and {len(duplicates)} near-duplicate{'s' if len(duplicates) > 1 else ''}: {named})"


def _show(hits: list[Hit]) -> None:
    lines = [(f"{hit.rank}", f"{hit.score:.4f}", *_cell(hit)) for hit in hits]
    if is_styled():
        _show_table(lines)
        return
    width = max(len(rank) for rank, *_ in lines)
    for rank, score, *cell in lines:
        indent = "\n" + " " * (width + len(score) + 4)
        print(f"{rank:>{width}}  {score}  {indent.join(cell)}")


def _cell(hit: Hit) -> list[str]:
    """Where a hit stands, what it says, and what says the same: a line each."""
    words = " ".join(hit.passage.text.split())
    short = words if len(words) <= SHOWN_CHARACTERS else words[:SHOWN_CHARACTERS].rstrip() + " …"
    said = [repeated(hit.duplicates)] if hit.duplicates else []
    return [visible(line) for line in (place(hit.passage), short, *said)]


def _show_table(lines: list[tuple[str, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column()
    for rank, score, where, words, *said in lines:
        cell = Text(where, style="bold").append("\n" + words, style="not bold")
        for line in said:
            cell.append("\n" + line, style="dim")
        table.add_row(rank, score, cell)
    console().print(table)
