"""The options that confine a search to some of the documents, and the filter that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from spanwise.types import Filter, FilterResult

PathOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        metavar="GLOB",
        help="Only documents with such a path, or below such a folder: 'notes/**', '*.md', in quotes. "
        "Repeatable: any of them, and '!drafts/' leaves out.",
        show_default=False,
    ),
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Only documents of this type: pdf, md, text/html. Repeatable: any of them.",
        show_default=False,
    ),
]
AfterOption = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Only documents dated then or later: 2024-01-31.", show_default=False),
]
BeforeOption = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Only documents dated earlier than that.", show_default=False),
]
MetaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        metavar="KEY=VALUE",
        help="Only documents whose metadata say so: language=de. Repeatable: all of them.",
        show_default=False,
    ),
]


def filter_of(
    paths: Sequence[str] | None,
    types: Sequence[str] | None,
    after: str | None,
    before: str | None,
    meta: Sequence[str] | None,
) -> Filter | None:
    """The filter that the options make; None when none of them is given."""
    where = Filter(tuple(paths or ()), tuple(types or ()), after, before, _metadata(meta or ()))
    return None if where == Filter() else where


def left_nothing(scope: FilterResult | None) -> str | None:
    """What to say when a filter left no document to be searched, else None.

    >>> left_nothing(FilterResult(Filter(), documents=0, of_documents=41, passages=0))
    'the filter left 0 of 41 documents'
    """
    if scope is None or scope.documents:
        return None
    return f"the filter left 0 of {scope.of_documents} documents"


def _metadata(pairs: Sequence[str]) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE, such as language=de", param_hint="--meta")
        if key in metadata:
            raise typer.BadParameter(f"{key!r} is given twice", param_hint="--meta")
        metadata[key] = value
    return metadata
