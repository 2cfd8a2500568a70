"""`spanwise serve [FOLDER]`: the library over HTTP, with a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanwise.errors import needing
from spanwise.types import ClusterOptions, SummaryOptions

from ..plain_text import visible
from . import options as opt
from .show import say

if TYPE_CHECKING:
    from ..server.security import Access

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


@dataclass(frozen=True, slots=True)
class ClientGroup:
    """Who may use a server."""

    allow_host: AllowHostOption = None
    allow_origin: AllowOriginOption = None
    token_file: TokenFileOption = None

    def access(self, host: str, port: int) -> Access:
        """The access to a server at this address."""
        from ..server.security import Access

        hosts = tuple(self.allow_host or ())
        origins = tuple(self.allow_origin or ())
        return Access(host, port, hosts, origins, token_of(self.token_file))


@opt.grouped
def serve(
    folder: opt.Folder = None,
    index: opt.Index = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8765,
    *,
    clients: ClientGroup,
    retriever: opt.Retriever = None,
    reader: opt.Reader = "builtin",
    rerank_model: Annotated[
        str, typer.Option(metavar="NAME", help="Cross-encoder for requests that re-rank.")
    ] = "builtin",
    generator: opt.GeneratorGroup,
    watch: Annotated[bool, typer.Option("--watch", help="Sync the index when its folders change.")] = False,
    cluster: opt.ClusterGroup,
) -> None:
    """Serve an index over HTTP: a page, a JSON interface, and chat completions for OpenAI clients."""
    with needing("serve"):
        from ..server.app import create_app
        from ..server.run import serve as serve_app
        from ..server.run import watch_in_background

    access = clients.access(host, port)
    options = SummaryOptions(
        retriever=retriever or "",
        reader=reader,
        rerank=rerank_model,
        generator=generator.generator,
        base_url=generator.base_url,
    )
    opt.say_what_is_sent(generator.generator, generator.base_url)
    if cluster.ray is not None:
        if folder is not None or watch or port == 0:
            raise typer.BadParameter("takes --index DIR and a --port, and no --watch", param_hint="--ray")
        with needing("ray"):
            from ..cluster.serve import serve_on_ray

        path = opt.index_of(index)
        shown = visible(str(path))
        serve_on_ray(path, cluster.options(), access, options, lambda url: say(f"serving {shown} at {url}"))
        return
    here = ClusterOptions(require_all=cluster.require_all_shards)
    with opt.library_of(folder, index, here) as library:
        if watch:
            watch_in_background(library, lambda text: say(f"watch: {visible(text)}"))
        else:
            opt.say_if_empty(library)
        shown = visible(str(library.store.path))
        serve_app(
            lambda bound: create_app(library, bound, options),
            access,
            lambda url: say(f"serving {shown} at {url} (Ctrl-C stops)"),
        )


def token_of(file: Path | None) -> str | None:
    """The token of the file, else of the environment; never of the command line, which others can see."""
    if file is None:
        return os.environ.get(TOKEN, "").strip() or None
    token = file.read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError(f"{file} contains no token. Write at least 16 characters into it.")
    return token
