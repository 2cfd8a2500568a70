"""The options that say what writes, and how it decodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ..summarizing.methods import EXTRACTIVE

if TYPE_CHECKING:
    from ..summarizing.writing import Writing

GeneratorOption = Annotated[
    str,
    typer.Option(
        "--generator",
        help="extractive quotes the sentences that say most; a folder or name@revision of a model, or "
        "the URL of an OpenAI-compatible server with #model, writes.",
    ),
]
PresetOption = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="How a generator decodes: factual, summary, summary-sampled, summary-strict, long, general. "
        "Default: summary-strict.",
        show_default=False,
    ),
]
DecodingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decoding",
        metavar="NAME=VALUE",
        help="A number of the preset replaced, such as temperature=0.5, top_p=0.9, beams=8, seed=3; may be "
        "given several times.",
        show_default=False,
    ),
]
SecondsOption = Annotated[
    float | None,
    typer.Option("--seconds", min=0.1, help="The time a generator has for one text.", show_default=False),
]
LengthOption = Annotated[str, typer.Option("--length", help="short, medium or long.")]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Drop every sentence that is not supported by what it cites.")
]


def writing_named(
    generator: str,
    preset: str | None = None,
    decoding: Sequence[str] | None = None,
    seconds: float | None = None,
) -> Writing | None:
    """What writes; None for the extractive generator."""
    if generator in (EXTRACTIVE):
        if preset is not None or decoding or seconds is not None:
            raise typer.BadParameter(f"{generator} decodes nothing: name another --generator")
        return None
    from ...reader.decoding.settings import given_decoding
    from ..summarizing.generators import PRESET, writing_of

    return writing_of(generator, given_decoding(preset or PRESET, decoding or ()), seconds)
