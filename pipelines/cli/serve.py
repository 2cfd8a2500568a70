"""`spanwise serve [FOLDER]`: the library over HTTP, with a page to ask it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from spanwise.errors import needing
from ..library import Library
from ..summarizing.methods import EXTRACTIVE
from .address import AllowHostOption, AllowOriginOption, HostOption, PortOption, TokenFileOption, token_of
from .arguments import (
    CacheOption,
    FolderArgument,
    IndexOption,
    ReaderOption,
    library_of,
    say_default_advice,
    say_if_empty,
)
from .beside_server import watch_command, watch_environment
from .reranking import RERANK_DEPTH, RerankDepthOption
from .terminal import say, visible
from .writing import (
    DecodingOption,
    GeneratorOption,
    PresetOption,
    SecondsOption,
    writing_named,
)

if TYPE_CHECKING:
    from ..serving.index_watch import IndexWatch


def serve(
    folder: FolderArgument = None,
    index: IndexOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8765,
    allow_host: AllowHostOption = None,
    allow_origin: AllowOriginOption = None,
    token_file: TokenFileOption = None,
    reader: ReaderOption = "builtin",
    rerank_by: Annotated[
        str, typer.Option("--rerank-model", metavar="NAME", help="What re-ranks where that is asked for.")
    ] = "builtin",
    rerank_depth: RerankDepthOption = RERANK_DEPTH,
    generator: GeneratorOption = EXTRACTIVE,
    preset: PresetOption = None,
    decoding: DecodingOption = None,
    seconds: SecondsOption = None,
    cache: CacheOption = True,
    in_flight: Annotated[int, typer.Option(min=1, help="Requests that are worked on at a time.")] = 8,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that a request may take.")] = 30.0,
    header_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that the head of a request may take.")
    ] = 10.0,
    connections: Annotated[int, typer.Option(min=1, help="Connections at a time.")] = 512,
    body_bytes: Annotated[int, typer.Option(min=1, help="The longest body.")] = 1_000_000,
    question_characters: Annotated[int, typer.Option(min=1, help="The longest question.")] = 4096,
    most_k: Annotated[int, typer.Option(min=1, help="The largest k.")] = 100,
    shutdown: Annotated[
        float, typer.Option(min=0.1, help="Seconds to finish in, when it is told to stop.")
    ] = 30.0,
    batch: Annotated[int, typer.Option(min=1, help="Questions that are computed together.")] = 32,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep the index current, by a process of its own.")
    ] = False,
) -> None:
    """Serve an index over HTTP: a page, a JSON interface, and the chat of OpenAI's clients."""
    from ..serving.settings import Settings

    settings = Settings(
        host=host,
        port=port,
        allowed_hosts=tuple(allow_host or ()),
        allowed_origins=tuple(allow_origin or ()),
        token=token_of(token_file),
        in_flight=in_flight,
        request_s=timeout,
        header_s=header_timeout,
        connections=connections,
        body_bytes=body_bytes,
        question_characters=question_characters,
        most_k=most_k,
        batch=batch,
        shutdown_s=shutdown,
        reader=reader,
        rerank=rerank_by,
        rerank_depth=rerank_depth,
        writing=writing_named(generator, preset, decoding, seconds),
    )
    with needing("serve"):
        from ..serving.server import serve_library

    with library_of(folder, index, cache) as library:
        say_default_advice(library)
        watching = _index_watch(library) if watch else None
        if watching is None:
            say_if_empty(library)
        ended = serve_library(library, settings, lambda address: _say_address(library, address), watching)
    if not ended:  # a thread that computes cannot be ended, and Python would wait for it in vain
        sys.stderr.flush()
        os._exit(0)


def _index_watch(library: Library) -> IndexWatch:
    """What keeps the index of the library current; its lines are said like this process's own."""
    from ..serving.index_watch import IndexWatch

    command, environment = watch_command(library), watch_environment()
    return IndexWatch(command, environment, lambda line: say(f"watch: {visible(line)}"))


def _say_address(library: Library, address: str) -> None:
    say(f"serving {visible(str(library.store.path))} at {address} (Ctrl-C stops)")
