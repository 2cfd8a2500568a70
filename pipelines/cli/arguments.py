"""The arguments that several verbs share, and how a verb finds its library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..folders import nearest_index, resolve_index
from ..library import Library
from ..models import DEFAULT_RETRIEVER
from ..open import open, open_index
from .terminal import say, visible

FolderArgument = Annotated[
    Path | None,
    typer.Argument(help="A folder with an index; else the nearest one upward.", show_default=False),
]
IndexOption = Annotated[
    Path | None,
    typer.Option(
        "--index", help="The index: its directory, or a folder that holds a .spanwise.", show_default=False
    ),
]
DEFAULT_HELP = f"Default: {DEFAULT_RETRIEVER}."
RetrieverOption = Annotated[
    str | None,
    typer.Option(
        help="tfidf, bm25, rank_bm25, dense, colbert, hybrid (bm25+dense), or a fusion such as bm25+colbert. "
        f"{DEFAULT_HELP}",
        show_default=False,
    ),
]
ReaderOption = Annotated[
    str, typer.Option(help="builtin, a folder, or name@revision of a question-answering model.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
DedupeOption = Annotated[bool, typer.Option("--dedupe/--no-dedupe", help="Merge near-duplicate passages.")]
ExactOption = Annotated[
    bool, typer.Option("--exact", help="Look at every vector, also where an approximate index is faster.")
]
ReadAllOption = Annotated[
    bool, typer.Option("--read-all", help="Read all -k passages, also where the first leave little doubt.")
]
CacheOption = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache", help="Keep what was found, and show it again while nothing it rests on changed."
    ),
]
RETRIEVER = None  # the default retriever of the index


def library_of(folder: Path | None, index: Path | None, cache: bool = True) -> Library:
    """The library meant: of the folder, at the index named, or the nearest one upward from here."""
    return open_index(index_of(index), cache) if folder is None else open(folder, index, cache=cache)


def say_if_empty(library: Library) -> None:
    """Tells on stderr how an index that holds nothing yet is filled."""
    with library.reading() as snapshot:
        is_empty = not snapshot.n_passages
    if is_empty:
        say(visible(f"{library.store.path} holds no passages yet; fill it with: {library.sync_command}"))


def index_of(index: Path | None) -> Path:
    """The directory of the index named, or of the nearest one upward from here."""
    return nearest_index(Path.cwd()) if index is None else resolve_index(index)
