"""The options that several verbs share, the objects they make, and how a verb finds its library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from spanwise.types import ClusterOptions, Filter, SearchOptions

from ..folders import nearest_index, resolve_index
from ..library.library import Library
from ..library.loaded_models import DEFAULT_RETRIEVER, LOCAL, RERANK_SUFFIX, RERANKER, sent_to
from ..open import open, open_index
from ..plain_text import visible
from .show import say

Options = TypeVar("Options", bound=SearchOptions)


def _local_model(context: typer.Context, name: str) -> str:
    """The model that `spanwise.toml` names in place of "local", if any."""
    tables = context.find_root().default_map or {}
    return str(tables.get("generator", {}).get(LOCAL, LOCAL)) if name == LOCAL else name


Folder = Annotated[Path | None, typer.Argument(help="An indexed folder. Default: the nearest index upward.")]
SyncedFolder = Annotated[
    Path | None, typer.Argument(help="A folder to sync first. Default: the nearest index.")
]
Index = Annotated[Path | None, typer.Option(help="The index: its directory, or a folder with a .spanwise.")]
Retriever = Annotated[
    str | None,
    typer.Option(
        help="tfidf, bm25, dense, colbert, hybrid (bm25+dense), or a fusion such as bm25+colbert. "
        f"Default: {DEFAULT_RETRIEVER}."
    ),
]
Rerank = Annotated[bool, typer.Option("--rerank", help="Re-rank by reading with the question.")]
RerankModel = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="What --rerank reads with: builtin (the reader), or a cross-encoder."),
]
Reader = Annotated[
    str, typer.Option(help="builtin, a folder, or name@revision of a question-answering model.")
]
Generator = Annotated[
    str,
    typer.Option(
        callback=_local_model,
        help="quote (nothing is written), local (a small model), FILE.gguf, hf:OWNER/NAME/FILE@REVISION, "
        "a folder of transformers, or openai:MODEL with --base-url.",
    ),
]
BaseUrl = Annotated[
    str, typer.Option(metavar="URL", help="Server of openai:MODEL, such as http://127.0.0.1:11434/v1.")
]
Dedupe = Annotated[bool, typer.Option(help="Merge near-duplicate passages.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="End after the answer; missing vectors of the folder stay missing.")
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Say what was searched, and how long it took.")]
Ray = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Use this Ray cluster for an index of shards; local starts one on this machine.",
    ),
]
Replicas = Annotated[int, typer.Option(min=1, help="With --ray: copies of each shard in memory.")]
RequireAll = Annotated[
    bool, typer.Option("--require-all-shards", help="Refuse to answer from some of the shards.")
]
PathFilter = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="Only documents with this path or below this folder, e.g. 'notes/**'; '!drafts/' excludes. "
        "Repeatable.",
    ),
]
TypeFilter = Annotated[
    list[str] | None, typer.Option(metavar="TYPE", help="Only this type: pdf, md, text/html. Repeatable.")
]
AfterFilter = Annotated[
    str | None, typer.Option(metavar="DATE", help="Only documents from this date on: 2024-01-31.")
]
BeforeFilter = Annotated[str | None, typer.Option(metavar="DATE", help="Only documents before this date.")]
MetaFilter = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Only documents with this metadata, e.g. author=Rook. Repeatable: all must match.",
    ),
]


def say_what_is_sent(generator: str, base_url: str) -> None:
    """Say on stderr what leaves this machine, where the generator is on another one."""
    if host := sent_to(generator, base_url):
        say(visible(f"each question and the sentences found for it are sent to {host}"))


def verbs(purpose: str) -> typer.Typer:
    """A verb that has verbs of its own, as `eval`."""
    return typer.Typer(help=purpose, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def question_and_folder(
    question: str | None, folder: Path | None, index: Path | None
) -> tuple[str | None, Path | None]:
    """The two arguments; a single one that is a folder is no question."""
    if question and folder is index is None and Path(question).is_dir():
        return None, Path(question)
    return question, folder


def library_of(folder: Path | None, index: Path | None, cluster: ClusterOptions | None = None) -> Library:
    """The library of the folder, of the given index, or of the nearest index upward."""
    if folder is None:
        return open_index(index_of(index), cluster=cluster)
    return open(folder, index, cluster=cluster)


def cluster_of(context: typer.Context) -> ClusterOptions:
    """Where the options of a verb have shards searched."""
    given = context.params
    return ClusterOptions(given["ray"], given["replicas"], given["require_all_shards"])


def index_of(index: Path | None) -> Path:
    """The directory of the given index, or of the nearest one upward."""
    return nearest_index(Path.cwd()) if index is None else resolve_index(index)


def say_if_empty(library: Library) -> None:
    """Say on stderr how to fill an empty index."""
    with library.reading() as snapshot:
        is_empty = not snapshot.n_passages
    if is_empty:
        say(visible(f"{library.store.path} has no passages yet. Fill it with: {library.sync_command}"))


def reranked(names: Sequence[str], rerank: bool) -> list[str]:
    """The retrievers, each with "+rerank" behind it if all are re-ranked.

    >>> reranked(["bm25", "bm25+rerank"], True)
    ['bm25+rerank', 'bm25+rerank']
    """
    return [f"{name.removesuffix(RERANK_SUFFIX)}{RERANK_SUFFIX}" if rerank else name for name in names]


def options_of(kind: type[Options], context: typer.Context, **given: Any) -> Options:
    """The options object of a verb that searches: `given`, then the options of the command line."""
    options = context.params
    given["retriever"] = options["retriever"] or ""
    given["rerank"] = options["rerank_model"] or (RERANKER if options["rerank"] else "")
    given["where"] = _filter(options)
    names = {field.name for field in fields(kind)} & options.keys() - given.keys()
    return kind(**given, **{name: options[name] for name in names})


def _filter(options: dict[str, Any]) -> Filter | None:
    """The filter of the command line; None without a condition."""
    metadata: dict[str, str] = {}
    for pair in options["meta"] or ():
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE, e.g. author=Rook", param_hint="--meta")
        if key in metadata:
            raise typer.BadParameter(f"{key!r} is given twice", param_hint="--meta")
        metadata[key] = value
    paths, types = tuple(options["path"] or ()), tuple(options["type"] or ())
    where = Filter(paths, types, options["after"], options["before"], metadata)
    return None if where == Filter() else where
