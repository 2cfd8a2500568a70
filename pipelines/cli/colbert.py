"""The options of `index` that say which token vectors an index keeps, and what they do."""

from __future__ import annotations

from typing import Annotated

import typer

from ..models import ColbertSetting, NONE, wanted_setting
from ..library import Library
from .terminal import say, visible

ColbertOption = Annotated[
    str | None,
    typer.Option(
        "--colbert",
        metavar="NAME",
        help="Keep token vectors, too, for --retriever colbert: builtin, a folder, or name@revision of a "
        "ColBERT model. They stay up to date from then on; none drops them, or keeps a new index from "
        "having those that the default retriever needs.",
        show_default=False,
    ),
]
BitsOption = Annotated[
    int | None,
    typer.Option("--colbert-bits", help="Bits of a number of them: 2, 4 (default) or 8.", show_default=False),
]
PoolOption = Annotated[
    int | None,
    typer.Option(
        "--colbert-pool",
        min=1,
        help="How many tokens of a passage share a vector: 2 halves the size. Default: 1.",
        show_default=False,
    ),
]


def check_colbert(name: str | None, bits: int | None, pool: int | None) -> None:
    """Refuse a model that cannot be had, or other bits, before an index is made."""
    if name not in (None, NONE):
        wanted_setting(None, str(name), bits, pool)


def set_colbert(library: Library, name: str | None, bits: int | None, pool: int | None) -> None:
    """Set what is given; what is dropped for it is said."""
    held = library.colbert
    if name is None and bits is None and pool is None:
        return
    if name is None and held is None:
        raise typer.BadParameter(
            "this index keeps no token vectors: name their model, too, with --colbert builtin",
            param_hint="--colbert-bits" if pool is None else "--colbert-pool",
        )
    with library.reading() as snapshot:
        has_tokens = bool(snapshot.token_models())
    library.use_colbert(name if held is None else name or held.name, bits, pool)
    now = library.colbert
    if held is not None and now != held and has_tokens:
        anew = f"; all passages are encoded anew by {_named(now)}" if now is not None else ""
        say(f"the token vectors of {_named(held)} were dropped{anew}")


def _named(setting: ColbertSetting) -> str:
    pool = f", {setting.pool} tokens a vector" if setting.pool > 1 else ""
    return f"{visible(setting.name)} ({setting.bits} bits{pool})"
