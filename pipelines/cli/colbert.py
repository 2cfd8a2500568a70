"""The options of `index` that say which token vectors an index keeps, and what they do."""

from __future__ import annotations

from typing import Annotated

import typer

from ..library import Library
from ..models import NONE, colbert_setting
from .terminal import say, visible

ColbertOption = Annotated[
    str | None,
    typer.Option(
        "--colbert",
        metavar="NAME",
        help="Keep token vectors, too, for --retriever colbert: builtin, a folder, or name@revision of a "
        "ColBERT model. They stay up to date from then on; none drops them.",
        show_default=False,
    ),
]


def check_colbert(name: str | None) -> None:
    """Refuse a model that cannot be loaded, before an index is made."""
    if name not in (None, NONE):
        colbert_setting(str(name))


def set_colbert(library: Library, name: str | None) -> None:
    """Set the model, if one is named; report which token vectors are dropped for it."""
    held = library.colbert
    if name is None:
        return
    with library.reading() as snapshot:
        has_tokens = bool(snapshot.token_models())
    library.use_colbert(name)
    now = library.colbert
    if held is not None and now != held and has_tokens:
        anew = f"; all passages are encoded again by {visible(now)}" if now is not None else ""
        say(f"the token vectors of {visible(held)} were dropped{anew}")
