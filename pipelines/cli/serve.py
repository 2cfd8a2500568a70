"""`spanwise serve [FOLDER]`: the library over HTTP, with a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from spanwise.errors import needing
from spanwise.types import QUOTE, ClusterOptions, SummaryOptions

from ..plain_text import visible
from . import options as opt
from .show import say

TOKEN = "SPANWISE_SERVE_TOKEN"

HostOption = Annotated[str, typer.Option(help="Address to bind. A public address requires a token.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]
AllowHostOption = Annotated[
    list[str] | None, typer.Option(help="Further host name of this server. Repeatable.")
]
AllowOriginOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Origin of a web page that may send requests, such as https://notes.example. Repeatable."
    ),
]
TokenFileOption = Annotated[Path | None, typer.Option(help="File with the token that requests need.")]


def serve(
    folder: opt.Folder = None,
    index: opt.Index = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8765,
    allow_host: AllowHostOption = None,
    allow_origin: AllowOriginOption = None,
    token_file: TokenFileOption = None,
    retriever: opt.Retriever = None,
    reader: opt.Reader = "builtin",
    rerank_model: Annotated[
        str, typer.Option(metavar="NAME", help="Cross-encoder for requests that re-rank.")
    ] = "builtin",
    generator: opt.Generator = QUOTE,
    base_url: opt.BaseUrl = "",
    watch: Annotated[bool, typer.Option("--watch", help="Sync the index when its folders change.")] = False,
    ray: opt.Ray = None,
    replicas: opt.Replicas = 1,
    require_all_shards: opt.RequireAll = False,
) -> None:
    """Serve an index over HTTP: a page, a JSON interface, and chat completions for OpenAI clients."""
    with needing("serve"):
        from ..server.app import create_app
        from ..server.run import serve as serve_app
        from ..server.run import watch_in_background
        from ..server.security import Access

    access = Access(host, port, tuple(allow_host or ()), tuple(allow_origin or ()), token_of(token_file))
    options = SummaryOptions(
        retriever=retriever or "", reader=reader, rerank=rerank_model, generator=generator, base_url=base_url
    )
    opt.say_what_is_sent(generator, base_url)
    if ray is not None:
        if folder is not None or watch or port == 0:
            raise typer.BadParameter("takes --index DIR and a --port, and no --watch", param_hint="--ray")
        with needing("ray"):
            from ..cluster.serve import serve_on_ray

        cluster, path = ClusterOptions(ray, replicas, require_all_shards), opt.index_of(index)
        shown = visible(str(path))
        serve_on_ray(path, cluster, access, options, lambda url: say(f"serving {shown} at {url}"))
        return
    with opt.library_of(folder, index, ClusterOptions(require_all=require_all_shards)) as library:
        if watch:
            watch_in_background(library, lambda text: say(f"watch: {visible(text)}"))
        else:
            opt.say_if_empty(library)
        where = visible(str(library.store.path))
        serve_app(
            lambda bound: create_app(library, bound, options),
            access,
            lambda url: say(f"serving {where} at {url} (Ctrl-C stops)"),
        )


def token_of(file: Path | None) -> str | None:
    """The token of the file, else of the environment; never of the command line, which others can see."""
    if file is None:
        return os.environ.get(TOKEN, "").strip() or None
    token = file.read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError(f"{file} contains no token. Write at least 16 characters into it.")
    return token
