"""Servers that speak OpenAI's protocol, such as Ollama, vLLM, LM Studio, llama.cpp and OpenAI.

Prompts are sent only to the server's address: redirects are not followed. The key comes from the environment
variable SPANWISE_API_KEY and appears in no message.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from spanwise.errors import GenerationFailed, needing

KEY = "SPANWISE_API_KEY"
TIMEOUT_S = 120.0  # without a byte from the server
CONNECT_S = 5.0
MAX_RETRIES = 2
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "


class ChatServer:
    """A model of the server at a base URL such as http://127.0.0.1:11434/v1; decodes greedily.

    ValueError for another kind of URL, and for a key that would be sent unencrypted. ExtraMissing without the
    package openai.
    """

    digest = ""
    context_tokens = 8192  # as `count_tokens` counts, which is less than half of it in most servers' counts

    def __init__(self, base_url: str, model: str, key: str | None = None) -> None:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or parts.query or "@" in parts.netloc:
            raise ValueError(
                "not the URL of a server: openai:MODEL needs --base-url such as http://127.0.0.1:11434/v1, "
                f"without user, password or query. Put a key into {KEY}."
            )
        self._key = os.environ.get(KEY, "").strip() if key is None else key
        if self._key and parts.scheme == "http" and not is_loopback(host):
            raise ValueError(f"{KEY} would be sent unencrypted to {host}: use https or unset it")
        with needing("llm"):
            import openai
        self.url = base_url.rstrip("/")
        self.model = model
        self.name = f"openai:{model}"
        timeout = openai.Timeout(TIMEOUT_S, connect=CONNECT_S)
        self._client = openai.OpenAI(
            base_url=self.url,
            api_key=self._key or "none",
            timeout=timeout,
            max_retries=MAX_RETRIES,
            default_headers={"connection": "close"},  # no idle sockets
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False, trust_env=not is_loopback(host), timeout=timeout
            ),
        )

    def count_tokens(self, text: str) -> int:
        """An upper estimate: half a token per ASCII letter or space, one per other byte."""
        data = text.encode("utf-8", "replace")
        others = len(data.translate(None, _LETTERS))
        return others + (len(data) - others + 1) // 2

    def generate(
        self, messages: Sequence[Mapping[str, str]], max_tokens: int, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Yields the text as it arrives; see `Generator`. Closing it early closes the connection."""
        ends = time.monotonic() + (timeout_s or float("inf"))
        client = self._client.with_options(timeout=timeout_s, max_retries=0) if timeout_s else self._client
        request: Any = {"model": self.model, "messages": list(messages), "max_tokens": max_tokens}
        try:
            with client.chat.completions.create(**request, temperature=0.0, stream=True) as chunks:
                for chunk in chunks:
                    text = chunk.choices[0].delta.content if chunk.choices else None
                    if text:
                        yield text
                    if time.monotonic() >= ends:
                        return
        except Exception as error:  # the errors of openai and of its HTTP client have no common base
            if time.monotonic() < ends:
                raise self._failed(error) from None

    def _failed(self, error: Exception) -> GenerationFailed:
        """The error as one line without the key."""
        message = " ".join(str(error).split())[:300] or type(error).__name__
        message = message.replace(self._key, "…") if self._key else message
        return GenerationFailed(f"{self.url}: {message}")


def is_loopback(host: str) -> bool:
    """True for an address that only this machine can reach.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
