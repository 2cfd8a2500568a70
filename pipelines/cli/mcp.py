"""`spanwise mcp`: the tools of an index for an assistant that speaks the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..extras import needing
from ..mcp.settings import Settings
from ..summarizing.methods import EXTRACTIVE
from .arguments import RETRIEVER, CacheOption, IndexOption, RetrieverOption, library_of, say_default_advice
from .reranking import RERANK_DEPTH, RerankDepthOption, RerankModelOption, rerank_model
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
) -> None:
    """Serve an index to assistants by the Model Context Protocol: search, ask, read, summarize."""
    writing = writing_named(generator, preset, decoding, seconds, samples)
    rerank = str(rerank_model(True, rerank_by))
    settings = Settings(reader, retriever, rerank, rerank_depth, writing)
    with needing("mcp"):
        from ..mcp.stdio import serve_stdio
    with library_of(folder, index, cache) as library:
        say_default_advice(library)
        say("spanwise mcp: serving over stdin and stdout, until stdin ends")
        serve_stdio(library, settings)
