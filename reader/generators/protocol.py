"""The protocol of text generators: models that write from chat messages."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from spanwise.errors import GenerationFailed

OPENAI = "openai:"
OLLAMA = "ollama:"
HUB = "hf:"
LOCAL = "local"
GGUF = ".gguf"

Message = Mapping[str, str]
"""A chat message: its "role" ("system" or "user") and "content"."""

nobody_waits: ContextVar[Callable[[], bool]] = ContextVar("nobody_waits", default=lambda: False)
"""Says whether the reply that is being made can be given up."""

_CONTROL = re.compile(r"(?<=[<\[])(?=[^\s\d])")  # <|im_end|>, </s>, [INST]
_THOUGHT = re.compile(r"<think(?:ing)?>")
_THOUGHT_END = re.compile(r"</think(?:ing)?>")


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole reply of a model.

    text: the reply, without thoughts.
    tokens_in, tokens_out: as a server counts them; 0 where it does not.
    is_cut: it ended at its limit.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    is_cut: bool = False


class Generator(Protocol):
    """A model that writes; it has a method `complete` or `generate`, see `Completer` and `Streamer`.

    name: of the model, for display.
    context_tokens: optional; the most tokens of a prompt and its answer, 4,096 by default.
    """

    name: str

    @property
    def digest(self) -> str:
        """The digest of its files; "" if unknown."""

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text, or an upper estimate."""


@runtime_checkable
class Completer(Generator, Protocol):
    """A generator that gives a whole reply in the form of a JSON schema; see `ChatServer.complete`."""

    def complete(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any],
        idle_s: float,
        total_s: float,
    ) -> Completion:
        """The whole reply."""


class Streamer(Generator, Protocol):
    """A generator that writes text from chat messages, piece by piece."""

    def generate(
        self, messages: Sequence[Message], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text in pieces; it is cut off after `timeout_s` seconds.

        GenerationFailed if the generator fails, or if the prompt does not fit into its context.
        """


def is_generator(reader: str | object) -> bool:
    """True for a model that writes, by name or as an object.

    >>> is_generator("ollama:qwen3"), is_generator("models/small.gguf"), is_generator("builtin")
    (True, True, False)
    """
    if isinstance(reader, str):
        return reader == LOCAL or reader.startswith((OPENAI, OLLAMA, HUB)) or reader.endswith(GGUF)
    return hasattr(reader, "generate") or hasattr(reader, "complete")


def completed(
    generator: Generator,
    messages: Sequence[Message],
    max_tokens: int,
    schema: Mapping[str, Any],
    idle_s: float,
    total_s: float,
) -> Completion:
    """The whole reply of a generator; the schema and `idle_s` count for those with a method `complete`.

    GenerationFailed where it fails, or takes longer.
    """
    if isinstance(generator, Completer):
        return generator.complete(messages, max_tokens, schema, idle_s, total_s)
    ends = time.monotonic() + total_s
    text = ""
    for piece in cast("Streamer", generator).generate(messages, max_tokens, total_s):
        require_listener(generator.name)
        text += piece
    if time.monotonic() >= ends:
        raise GenerationFailed(f"{generator.name}: the time for the reply is over")
    return Completion(without_thoughts(text))


def require_listener(name: str) -> None:
    """Raises GenerationFailed where nobody waits for the reply of the model with this name."""
    if nobody_waits.get()():
        raise GenerationFailed(f"{name}: nobody waits for the reply")


def without_thoughts(text: str) -> str:
    """The text without the thoughts that a model writes in tags; a JSON object is left as it is.

    The first tag may be missing, because some templates write it into the prompt.

    >>> without_thoughts("Ada, or Bo?</think>\\nAda.<think>In 1811?</think> In 1812.")
    'Ada. In 1812.'
    """
    if text.lstrip().startswith("{"):
        return text.strip()
    *closed, rest = _THOUGHT_END.split(text)
    before = [part[: match.start()] for part in closed if (match := _THOUGHT.search(part))]
    return ("".join(before) + _THOUGHT.split(rest)[0]).strip()


def inert(text: str) -> str:
    """The text on one line, without a model's control tokens and without lone surrogates."""
    line = _CONTROL.sub(" ", " ".join(text.split()))
    return line.encode("utf-8", "replace").decode("utf-8")
