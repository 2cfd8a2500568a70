"""`spanwise mcp`: an index as tools for assistants that speak the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spanwise.errors import needing
from spanwise.types import SummaryOptions

from . import options as opt
from .serve import ClientGroup, HostOption, PortOption
from .show import say


@opt.grouped
def mcp(
    folder: opt.Folder = None,
    index: opt.Index = None,
    retriever: opt.Retriever = None,
    reader: opt.Reader = "builtin",
    *,
    generator: opt.GeneratorGroup,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, not stdin and stdout.")] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8766,
    clients: ClientGroup,
) -> None:
    """Serve an index to assistants by the Model Context Protocol: search, ask, read, summarize, list."""
    with needing("mcp"):
        from ..mcp import http_app, serve_stdio
    options = SummaryOptions(
        retriever=retriever or "",
        reader=reader,
        generator=generator.generator,
        base_url=generator.base_url,
    )
    opt.say_what_is_sent(generator.generator, generator.base_url)
    if not http:
        with opt.library_of(folder, index) as library:
            opt.say_if_empty(library)
            say("spanwise mcp: serving over stdin and stdout, until stdin ends")
            serve_stdio(library, options)
        return
    with needing("serve"):
        from ..server.run import serve
        from ..server.security import Access, protect

    access = clients.access(host, port)
    with opt.library_of(folder, index) as library:

        def make(bound: Access) -> Any:
            app = http_app(library, options)
            protect(app, bound)
            return app

        serve(make, access, lambda url: say(f"spanwise mcp: serving at {url}mcp (Ctrl-C stops)"))
