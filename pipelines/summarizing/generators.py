"""From the name of a generator to the generator, and to how it decodes."""

from __future__ import annotations

from ...reader.decoding.settings import Decoding, preset
from ...reader.generation.protocol import Generator
from .writing import Writing

PRESET = "summary-strict"


def writing_of(name: str, decoding: Decoding | str = PRESET, seconds: float | None = None) -> Writing:
    """The generator of that name with how it decodes, or the preset; the default is greedy, repeatable."""
    how = preset(decoding) if isinstance(decoding, str) else decoding
    return Writing(generator_of(name), how, seconds)


def generator_of(name: str) -> Generator:
    """The server behind a URL such as "http://127.0.0.1:11434/v1#llama3", or a model.

    A model is a local folder, or pinned as name@revision.
    """
    if name.startswith(("http://", "https://")):
        from ...reader.generation.endpoint import endpoint_of

        return endpoint_of(name)
    from ...reader.generation.transformers_generator import load_generator

    return load_generator(name)
