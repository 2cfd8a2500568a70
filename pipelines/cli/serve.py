"""`spanwise serve [FOLDER]` and `spanwise mcp`: the library over HTTP with a page, or as tools.

Tools are for assistants that speak the Model Context Protocol.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from spanwise.errors import needing
from spanwise.types import QUOTE, ClusterOptions, SummaryOptions

from ...models.model_files import BUILTIN
from . import options as opt
from .show import say

if TYPE_CHECKING:
    from ..server.security import Access

TOKEN = "SPANWISE_SERVE_TOKEN"

HostOption = Annotated[str, Option(help="Address to bind. A public address requires a token.")]
PortOption = Annotated[int, Option(min=0, max=65535, help="Port; 0 takes a free one.")]


@dataclass(frozen=True, slots=True)
class ClientGroup:
    """Who may use a server."""

    allow_host: Annotated[list[str] | None, Option(help="Further host name of this server. Repeatable.")] = (
        None
    )
    allow_origin: Annotated[
        list[str] | None,
        Option(
            help="Origin of a web page that may send requests, such as https://notes.example. Repeatable."
        ),
    ] = None
    token_file: Annotated[Path | None, Option(help="File with the token that requests need.")] = None

    def access(self, host: str, port: int) -> Access:
        """The access to a server at this address."""
        from ..server.security import Access

        hosts = self.allow_host or ()
        return Access(host, port, tuple(hosts), tuple(self.allow_origin or ()), token_of(self.token_file))


@opt.grouped
def serve(
    folder: opt.Folder = None,
    index: opt.Index = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8765,
    *,
    clients: ClientGroup,
    retriever: opt.Retriever = None,
    reader: opt.Readers = None,
    rerank_model: Annotated[
        str, Option(metavar="NAME", help="Cross-encoder for requests that re-rank.")
    ] = "builtin",
    generator: opt.Generator = QUOTE,
    base_url: opt.BaseUrl = "",
    model: opt.ModelGroup,
    watch: Annotated[bool, Option("--watch", help="Sync the index when its folders change.")] = False,
    uploads: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Indexed folder that takes files from the page. Default: FOLDER, on a loopback address.",
        ),
    ] = None,
    cluster: opt.ClusterGroup,
) -> None:
    """Serve an index over HTTP: a page, a JSON interface, and chat completions for OpenAI clients."""
    with needing("serve"):
        from ...reader.generators.server import is_loopback
        from ..server import run
        from ..server.app import create_app
        from ..server.uploads import sync_in_background

    access = clients.access(host, port)
    readers = tuple(reader or [BUILTIN])
    options = SummaryOptions(
        retriever=retriever or "",
        reader=readers[0],
        rerank=rerank_model,
        generator=generator,
        base_url=base_url,
        model=model.options(),
    )
    opt.say_what_is_sent([generator, *readers], base_url)
    if cluster.ray is not None:
        if folder is not None or watch or uploads is not None or port == 0:
            raise BadParameter("takes --index DIR and a --port, no --watch or --uploads", param_hint="--ray")
        path = opt.index_of(index)
        run.serve_on_ray(
            path, cluster.options(), access, options, lambda url: say(f"serving {path} at {url}")
        )
        return
    here = ClusterOptions(require_all=cluster.require_all_shards)
    with opt.library_of(folder, index, here) as library:
        if not watch:
            opt.say_if_empty(library)
        if uploads is None and folder is not None and is_loopback(host):
            uploads = folder.resolve()
        with sync_in_background(
            library.store.path, uploads, watch, lambda text: say(f"sync: {text}")
        ) as files:
            run.serve(
                lambda bound: create_app(library, bound, options, readers, files),
                access,
                lambda url: say(f"serving {library.store.path} at {url} (Ctrl-C stops)"),
            )


@opt.grouped
def mcp(
    folder: opt.Folder = None,
    index: opt.Index = None,
    retriever: opt.Retriever = None,
    reader: opt.Readers = None,
    *,
    generator: opt.Generator = QUOTE,
    base_url: opt.BaseUrl = "",
    model: opt.ModelGroup,
    http: Annotated[bool, Option("--http", help="Serve over HTTP, not stdin and stdout.")] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8766,
    clients: ClientGroup,
) -> None:
    """Serve an index to assistants by the Model Context Protocol: search, ask, read, summarize, list."""
    with needing("mcp"):
        from ..mcp import http_app, make_server
    readers = tuple(reader or [BUILTIN])
    options = SummaryOptions(
        retriever=retriever or "",
        reader=readers[0],
        generator=generator,
        base_url=base_url,
        model=model.options(),
    )
    opt.say_what_is_sent([generator, *readers], base_url)
    if not http:
        with opt.library_of(folder, index) as library:
            opt.say_if_empty(library)
            say("spanwise mcp: serving over stdin and stdout, until stdin ends")
            make_server(library, options, readers).run("stdio")
        return
    with needing("serve"):
        from ..server.run import serve
        from ..server.security import protect

    access = clients.access(host, port)
    with opt.library_of(folder, index) as library:

        def make(bound: Access) -> Any:
            app = http_app(library, options, readers)
            protect(app, bound)
            return app

        serve(make, access, lambda url: say(f"spanwise mcp: serving at {url}mcp (Ctrl-C stops)"))


def token_of(file: Path | None) -> str | None:
    """The token of the file, else of the environment; never of the command line, which others can see."""
    if file is None:
        return os.environ.get(TOKEN, "").strip() or None
    token = file.read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError(f"{file} contains no token. Write at least 16 characters into it.")
    return token
