"""`spanwise mcp`: the tools of an index for an assistant that speaks the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from spanwise.errors import needing
from ..library import Library
from ..mcp.settings import Settings
from ..serving.settings import Settings as Address
from ..summarizing.methods import EXTRACTIVE
from .address import AllowHostOption, AllowOriginOption, HostOption, PortOption, TokenFileOption, token_of
from .arguments import (
    RETRIEVER,
    CacheOption,
    FolderArgument,
    IndexOption,
    ReaderOption,
    RetrieverOption,
    library_of,
    say_default_advice,
    say_if_empty,
)
from .reranking import RERANK_DEPTH, RerankDepthOption, RerankModelOption, rerank_model
from .terminal import say
from .writing import (
    DecodingOption,
    GeneratorOption,
    PresetOption,
    SecondsOption,
    writing_named,
)

HTTP_TIMEOUT_S = 30.0  # over stdin and stdout whoever waits can end the process


def mcp(
    folder: FolderArgument = None,
    index: IndexOption = None,
    retriever: RetrieverOption = RETRIEVER,
    reader: ReaderOption = "builtin",
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    generator: GeneratorOption = EXTRACTIVE,
    preset: PresetOption = None,
    decoding: DecodingOption = None,
    seconds: SecondsOption = None,
    cache: CacheOption = True,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, not stdin and stdout.")] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8766,
    allow_host: AllowHostOption = None,
    allow_origin: AllowOriginOption = None,
    token_file: TokenFileOption = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            help=f"Seconds that a call may take; over HTTP {HTTP_TIMEOUT_S:g} if not given.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve an index to assistants by the Model Context Protocol: search, ask, read, summarize."""
    timeout = HTTP_TIMEOUT_S if http and timeout is None else timeout
    writing = writing_named(generator, preset, decoding, seconds)
    settings = Settings(reader, retriever, str(rerank_model(True, rerank_by)), rerank_depth, writing, timeout)
    hosts, origins = tuple(allow_host or ()), tuple(allow_origin or ())
    address = Address(host, port, hosts, origins, token_of(token_file)) if http else None
    with library_of(folder, index, cache) as library:
        say_default_advice(library)
        say_if_empty(library)
        _serve(library, settings, address)


def _serve(library: Library, settings: Settings, address: Address | None) -> None:
    if address is None:
        with needing("mcp"):
            from ..mcp.stdio import serve_stdio
        say("spanwise mcp: serving over stdin and stdout, until stdin ends")
        serve_stdio(library, settings)
        return
    with needing("serve,mcp"):
        from ..mcp.http import serve_http
    serve_http(library, settings, address, lambda url: say(f"spanwise mcp: serving at {url} (Ctrl-C stops)"))
