"""Options of the verbs that listen on an address: who may ask, by which name, and how long it may take."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

TOKEN = "SPANWISE_SERVE_TOKEN"

HostOption = Annotated[str, typer.Option(help="The address to bind; any but this machine's needs a token.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(help="A further name that requests may call it by. Repeatable.", show_default=False),
]
AllowOriginOption = Annotated[
    list[str] | None,
    typer.Option(
        help="The origin of a page that may ask it: https://notes.example. Repeatable.", show_default=False
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(help=f"A file with the token that requests must bring; or {TOKEN}.", show_default=False),
]


def token_of(file: Path | None) -> str | None:
    """The token of the file, else that of the environment; never one of the command line."""
    if file is None:
        return os.environ.get(TOKEN, "").strip() or None
    token = file.read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError(f"{file} holds no token: write one of 16 characters or more into it")
    return token
