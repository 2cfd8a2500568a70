"""`spanwise mcp`: the tools of an index for an assistant that speaks the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..extras import needing
from ..library import Library
from ..mcp.settings import Settings
from ..serving.settings import Settings as Address
from ..summarizing.methods import EXTRACTIVE
from .arguments import (
    RETRIEVER,
    CacheOption,
    IndexOption,
    RetrieverOption,
    library_of,
    say_default_advice,
    say_if_empty,
)
from .reranking import RERANK_DEPTH, RerankDepthOption, RerankModelOption, rerank_model
from .serve import TOKEN, token_of
from .terminal import say
from .writing import (
    DecodingOption,
    GeneratorOption,
    PresetOption,
    SamplesOption,
    SecondsOption,
    writing_named,
)


def mcp(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder with an index; else the nearest one upward.", show_default=False),
    ] = None,
    index: IndexOption = None,
    retriever: RetrieverOption = RETRIEVER,
    reader: Annotated[
        str, typer.Option(help="builtin, a folder, or name@revision of a question-answering model.")
    ] = "builtin",
    rerank_by: RerankModelOption = None,
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    generator: GeneratorOption = EXTRACTIVE,
    preset: PresetOption = None,
    decoding: DecodingOption = None,
    seconds: SecondsOption = None,
    samples: SamplesOption = 1,
    cache: CacheOption = True,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, not stdin and stdout.")] = False,
    host: Annotated[str, typer.Option(help="The address to bind; any but this machine's needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8766,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A further name that requests may call it by. Repeatable.", show_default=False),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="The origin of a page that may ask it. Repeatable.", show_default=False),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help=f"A file with the token that requests must bring; or {TOKEN}.", show_default=False),
    ] = None,
) -> None:
    """Serve an index to assistants by the Model Context Protocol: search, ask, read, summarize."""
    writing = writing_named(generator, preset, decoding, seconds, samples)
    rerank = str(rerank_model(True, rerank_by))
    settings = Settings(reader, retriever, rerank, rerank_depth, writing)
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
