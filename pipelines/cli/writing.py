"""The options of `summarize` and of servers that choose and limit the generator."""

from __future__ import annotations

from typing import Annotated

import typer

GeneratorOption = Annotated[
    str,
    typer.Option(
        "--generator",
        help="extractive (quotes), the URL of an OpenAI-compatible server with #model, or the folder or "
        "name@revision of a model.",
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", min=0.1, help="Seconds a generator may write.", show_default=False),
]
MaxSentencesOption = Annotated[
    int, typer.Option("--max-sentences", min=1, help="Maximum number of sentences.")
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Drop sentences without full support.")]
