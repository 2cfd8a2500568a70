"""A generator behind the URL of an OpenAI-compatible server (Ollama, vLLM, llama.cpp, OpenAI).

The question and the passages leave this process for that address and no other: redirects are not followed.
The key comes from the environment variable SPANWISE_API_KEY and appears in no message.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spanwise.errors import ExtraMissing, GenerationFailed

from .prompt import Message

if TYPE_CHECKING:
    from openai import OpenAI

KEY = "SPANWISE_API_KEY"
TIMEOUT_S = 120.0  # without a byte from the server
CONNECT_S = 5.0
MAX_RETRIES = 2
CONTEXT_TOKENS = 8192  # servers do not state it
TEMPLATE_TOKENS = 64  # around the messages
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "


class Endpoint:
    """The model after "#" of a URL such as http://127.0.0.1:11434/v1#llama3.2; decodes greedily.

    Without "#" the server must have exactly one model. ValueError for what is no such URL, and for a key
    that would travel unencrypted; ExtraMissing without the package openai.
    """

    def __init__(self, name: str, context_tokens: int = CONTEXT_TOKENS) -> None:
        url, _, model = name.partition("#")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or "@" in parts.netloc:
            raise ValueError(
                "not the URL of a server: expected one such as http://127.0.0.1:11434/v1#llama3.2, without "
                f"user, password or query. Put a key into {KEY}."
            )
        self._key = os.environ.get(KEY, "").strip()
        is_local = _is_loopback(parts.hostname)
        if self._key and parts.scheme == "http" and not is_local:
            raise ValueError(f"{KEY} would travel unencrypted to {parts.hostname}: use https or unset it")
        self.url, self.context_tokens = url.rstrip("/"), context_tokens
        self._client = _client(self.url, self._key, is_local)
        self.model = model or self._only_model()
        self.name = f"{self.url}#{self.model}"

    def __repr__(self) -> str:
        """The name, without the key."""
        return f"Endpoint({self.name!r})"

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """An upper estimate: half a token for an ASCII letter or space, one for every other byte."""
        data = "".join(one["content"] for one in messages).encode("utf-8", "replace")
        others = len(data.translate(None, _LETTERS))
        return others + (len(data) - others + 1) // 2 + TEMPLATE_TOKENS

    def generate(
        self, messages: Sequence[Message], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text as it comes; see `Generator`."""
        import openai

        ends = time.monotonic() + (timeout_s or float("inf"))
        sent: Any = [{**one, "content": _encodable(one["content"])} for one in messages]
        try:
            with self._client.chat.completions.create(
                model=self.model, messages=sent, max_tokens=max_tokens, temperature=0.0, stream=True
            ) as chunks:
                for chunk in chunks:
                    if chunk.choices and (text := chunk.choices[0].delta.content):
                        yield text
                    if time.monotonic() >= ends:
                        return
        except (openai.OpenAIError, OSError, ValueError) as error:
            raise self._failed(error) from None

    def _only_model(self) -> str:
        import openai

        try:
            models = [one.id for one in self._client.models.list().data]
        except (openai.OpenAIError, OSError, ValueError) as error:
            raise self._failed(error) from None
        if len(models) != 1:
            raise ValueError(
                f"{self.url} has {len(models)} models: name one as {self.url}#MODEL: {models[:20]}"
            )
        return models[0]

    def _failed(self, error: Exception) -> GenerationFailed:
        """The error as one line without the key."""
        message = " ".join(str(error).split())[:300] or type(error).__name__
        message = message.replace(self._key, "…") if self._key else message
        return GenerationFailed(f"{self.url}: {message}")


def _client(url: str, key: str, is_local: bool) -> OpenAI:
    try:
        import openai
    except ImportError as error:
        raise ExtraMissing(f"{error}. Install it with: pip install 'spanwise[llm]'") from error
    timeout = openai.Timeout(TIMEOUT_S, connect=CONNECT_S)
    http = openai.DefaultHttpxClient(follow_redirects=False, trust_env=not is_local, timeout=timeout)
    return openai.OpenAI(
        base_url=url, api_key=key or "none", max_retries=MAX_RETRIES, timeout=timeout, http_client=http
    )


def _encodable(text: str) -> str:
    """The text with "?" for half surrogates, which names of files that are not UTF-8 have."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
