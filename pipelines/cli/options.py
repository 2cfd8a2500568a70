"""The options that several verbs share, the objects they make, and how a verb finds its library."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from spanwise.types import Filter, SearchOptions

from ..folders import nearest_index, resolve_index
from ..library import Library
from ..models import DEFAULT_RETRIEVER, RERANK_SUFFIX, RERANKER
from ..open import open, open_index
from ..visible import visible
from .show import say

Options = TypeVar("Options", bound=SearchOptions)
PREFIX = "SPANWISE"

FolderArgument = Annotated[
    Path | None,
    typer.Argument(help="A folder with an index. Default: the nearest index upward.", show_default=False),
]
IndexOption = Annotated[
    Path | None,
    typer.Option(
        "--index", help="The index: its directory, or a folder with a .spanwise.", show_default=False
    ),
]
RetrieverOption = Annotated[
    str | None,
    typer.Option(
        help="tfidf, bm25, dense, colbert, hybrid (bm25+dense), or a fusion such as bm25+colbert. "
        f"Default: {DEFAULT_RETRIEVER}.",
        show_default=False,
    ),
]
RerankOption = Annotated[bool, typer.Option("--rerank", help="Re-rank with a cross-encoder.")]
RerankModelOption = Annotated[
    str | None,
    typer.Option(
        "--rerank-model",
        metavar="NAME",
        help="The cross-encoder of --rerank: builtin, a folder, or name@revision.",
        show_default=False,
    ),
]
ReaderOption = Annotated[
    str, typer.Option(help="builtin, a folder, or name@revision of a question-answering model.")
]
GeneratorOption = Annotated[
    str,
    typer.Option(
        "--generator",
        help="extractive (quotes), the URL of an OpenAI-compatible server with #model, or the folder or "
        "name@revision of a model.",
    ),
]
DedupeOption = Annotated[bool, typer.Option("--dedupe/--no-dedupe", help="Merge near-duplicate passages.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PathOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        metavar="GLOB",
        help="Only documents with this path or below this folder, e.g. 'notes/**'; '!drafts/' excludes. "
        "Repeatable.",
        show_default=False,
    ),
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="TYPE", help="Only this type: pdf, md, text/html. Repeatable.", show_default=False
    ),
]
AfterOption = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Only documents from this date on: 2024-01-31.", show_default=False),
]
BeforeOption = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Only documents before this date.", show_default=False),
]
MetaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        metavar="KEY=VALUE",
        help="Only documents with this metadata, e.g. author=Rook. Repeatable: all must match.",
        show_default=False,
    ),
]


def library_of(folder: Path | None, index: Path | None) -> Library:
    """The library of the folder, of the given index, or of the nearest index upward."""
    return open_index(index_of(index)) if folder is None else open(folder, index)


def index_of(index: Path | None) -> Path:
    """The directory of the given index, or of the nearest one upward."""
    return nearest_index(Path.cwd()) if index is None else resolve_index(index)


def say_if_empty(library: Library) -> None:
    """Tell on stderr how to fill an empty index."""
    with library.reading() as snapshot:
        is_empty = not snapshot.n_passages
    if is_empty:
        say(visible(f"{library.store.path} has no passages yet. Fill it with: {library.sync_command}"))


def filter_of(
    paths: Sequence[str] | None,
    types: Sequence[str] | None,
    after: str | None,
    before: str | None,
    meta: Sequence[str] | None,
) -> Filter | None:
    """The filter of the options; None when none of them is given."""
    metadata: dict[str, str] = {}
    for pair in meta or ():
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE, e.g. author=Rook", param_hint="--meta")
        if key in metadata:
            raise typer.BadParameter(f"{key!r} is given twice", param_hint="--meta")
        metadata[key] = value
    where = Filter(tuple(paths or ()), tuple(types or ()), after, before, metadata)
    return None if where == Filter() else where


def rerank_name(rerank: bool, model: str | None) -> str:
    """The cross-encoder to re-rank with; "" for none.

    >>> rerank_name(True, None), rerank_name(False, "mine"), rerank_name(False, None)
    ('builtin', 'mine', '')
    """
    return model or (RERANKER if rerank else "")


def reranked(names: Sequence[str], rerank: bool) -> list[str]:
    """The retrievers, each with "+rerank" behind it if all are re-ranked.

    >>> reranked(["bm25", "bm25+rerank"], True)
    ['bm25+rerank', 'bm25+rerank']
    """
    return [f"{name.removesuffix(RERANK_SUFFIX)}{RERANK_SUFFIX}" if rerank else name for name in names]


def options_of(kind: type[Options], context: typer.Context, **given: Any) -> Options:
    """The options object of a verb: what is given, then fields without an option of their own.

    Such a field, as `read_all`, is set in the verb's table of spanwise.toml or by its variable, as
    SPANWISE_ASK_READ_ALL. ValueError for a value of another type.
    """
    verb = (context.info_name or "").upper().replace("-", "_")
    found: dict[str, Any] = {}
    for field in fields(kind):
        name, default = field.name, field.default
        if name in given or not isinstance(default, bool | int | float | str):
            continue
        table: Mapping[str, Any] = context.default_map or {}
        text = os.environ.get(f"{PREFIX}_{verb}_{name.upper()}")
        if text is not None:
            found[name] = _parsed(name, text, default)
        elif name in table:
            if type(table[name]) is not type(default):
                raise ValueError(f"{name} in spanwise.toml is {table[name]!r}; expected {default!r} or alike")
            found[name] = table[name]
    return kind(**{**found, **given})


def _parsed(name: str, text: str, default: bool | int | float | str) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(f"{name} is {text!r}; expected true or false")
        return text.lower() in ("true", "1")
    return type(default)(text)
