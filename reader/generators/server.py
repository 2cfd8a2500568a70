"""Servers of chat models: those that speak OpenAI's protocol, and Ollama, also for embeddings.

OpenAI's protocol is that of LM Studio, vLLM, llama.cpp, `transformers serve` and many more. Prompts are sent
only to the server's address: redirects are not followed. The key of SPANWISE_API_KEY goes to the server of
SPANWISE_API_URL alone and appears in no message. Replies are read as they arrive. What a model thinks, in a
field or in tags of its own, is no part of its reply.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import GenerationFailed, ModelNotFound

from .protocol import OLLAMA, OPENAI, Completion, Message, require_listener, without_thoughts

if TYPE_CHECKING:
    import httpx

KEY = "SPANWISE_API_KEY"
KEY_URL = "SPANWISE_API_URL"
OLLAMA_URL = "http://127.0.0.1:11434"
CONNECT_S = 5.0
BUSY = (429, 502, 503)
RETRIES_S = (0.5, 1.0)  # the waits before a busy server is asked again
MAX_BYTES = 4_000_000  # of a reply
MAX_THOUGHTS = 40_000  # characters
MAX_MESSAGE = 300  # characters of a server's error
EMBEDDED = 32  # texts of a request
EMBEDDING_S = 300.0  # for a request
KEEP_ALIVE = "10m"  # for which Ollama keeps the model in memory
TIME_OVER = "the time for the reply is over. Give it more with --total-s"
CHECK_URL = "Name the server's base URL, such as http://127.0.0.1:1234/v1"
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a reply.

    text: of the answer.
    thought: of the model's thoughts.
    tokens_in, tokens_out: as the server counts them, in one of the last pieces; else 0.
    is_cut: the reply ended at its limit.
    """

    text: str = ""
    thought: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    is_cut: bool = False


class ChatServer:
    """A model of the server at a base URL such as http://127.0.0.1:1234/v1; decodes greedily.

    ValueError for another kind of URL, and for a key that would be sent unencrypted or belongs to no URL.
    """

    context_tokens = 8192  # as `count_tokens` counts, which is less than half of it in most servers' counts
    path = "/chat/completions"
    kind = OPENAI

    def __init__(self, base_url: str, model: str, key: str | None = None) -> None:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or parts.query or "@" in parts.netloc:
            raise ValueError(
                f"not the URL of a server: {self.kind}MODEL needs --base-url such as "
                f"http://127.0.0.1:1234/v1, without user, password or query. Put a key into {KEY}."
            )
        import httpx

        self.url = base_url.rstrip("/")
        self.model = model
        self.name = f"{self.kind}{model}"
        self._key = key_of(self.url) if key is None else key
        if self._key and parts.scheme == "http" and not is_loopback(host):
            raise ValueError(f"{KEY} would be sent unencrypted to {host}: use https or unset it")
        headers = {"connection": "close"}  # no idle sockets
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        self._client = httpx.Client(
            headers=headers,
            timeout=CONNECT_S,
            follow_redirects=False,
            trust_env=not is_loopback(host),
        )
        self._takes_extras = True

    @property
    def digest(self) -> str:
        """The digest of the model, which only some servers know; else ""."""
        return ""

    def count_tokens(self, text: str) -> int:
        """An upper estimate: half a token per ASCII letter or space, one per other byte."""
        data = text.encode("utf-8", "replace")
        others = len(data.translate(None, _LETTERS))
        return others + (len(data) - others + 1) // 2

    def complete(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any],
        idle_s: float,
        total_s: float,
    ) -> Completion:
        """The whole reply, in the form of a JSON schema where the server takes one; see `Completion`.

        GenerationFailed if no byte comes for `idle_s` seconds or the reply is not whole after `total_s`.
        """
        ends = time.monotonic() + total_s
        text = ""
        n_thoughts = 0
        last = Piece()
        for piece in self._pieces(self._body(messages, max_tokens, schema), idle_s, ends):
            text += piece.text
            n_thoughts += len(piece.thought)
            if n_thoughts > MAX_THOUGHTS:
                raise GenerationFailed(f"{self.name} thinks and does not answer. Turn its thinking off.")
            last = Piece(
                tokens_in=piece.tokens_in or last.tokens_in,
                tokens_out=piece.tokens_out or last.tokens_out,
                is_cut=piece.is_cut or last.is_cut,
            )
        if not (text or n_thoughts or last.tokens_out):
            raise self._failed(f"expected the reply of a model, got none. {CHECK_URL}")
        return Completion(without_thoughts(text), last.tokens_in, last.tokens_out, last.is_cut)

    def _body(
        self, messages: Sequence[Message], max_tokens: int, schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """The body of a request."""
        body: dict[str, Any] = {"model": self.model, "messages": list(messages), "stream": True}
        if not self._takes_extras:
            return body
        body |= {
            "max_tokens": max_tokens,
            "temperature": 0.0,
            "stream_options": {"include_usage": True},
            "chat_template_kwargs": {"enable_thinking": False},
        }
        if schema is not None:
            form = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def _piece(self, record: Mapping[str, Any]) -> Piece:
        """A piece of a reply from a chunk, or from a whole one of a server that does not stream."""
        choices = record.get("choices") or [{}]
        said = choices[0].get("delta") or choices[0].get("message") or {}
        usage = record.get("usage") or {}
        return Piece(
            said.get("content") or "",
            said.get("reasoning_content") or said.get("reasoning") or "",
            usage.get("prompt_tokens") or 0,
            usage.get("completion_tokens") or 0,
            choices[0].get("finish_reason") == "length",
        )

    def _pieces(self, body: Mapping[str, Any], idle_s: float, ends: float) -> Iterator[Piece]:
        """The pieces of a reply; a server that refuses what not every server knows is asked without it."""
        for line in self._lines(body, idle_s, ends):
            data = line.removeprefix(b"data:").strip()
            if data in (b"", b"[DONE]") or line.startswith((b":", b"event:", b"id:", b"retry:")):
                continue
            try:
                record = json.loads(data)
                if error := record.get("error"):
                    raise self._failed(str(error.get("message") if isinstance(error, dict) else error))
                yield self._piece(record)
            except (ValueError, AttributeError, TypeError, LookupError, RecursionError):
                raise self._failed(f"expected the reply of a model, got {data[:60]!r}. {CHECK_URL}") from None

    def _lines(self, body: Mapping[str, Any], idle_s: float, ends: float) -> Iterator[bytes]:
        """The lines of the response to a request."""
        import httpx

        waits = iter(RETRIES_S)
        is_plain = not self._takes_extras
        while True:
            try:
                timeout = httpx.Timeout(idle_s, connect=min(CONNECT_S, idle_s))
                with self._client.stream(
                    "POST", self.url + self.path, json=body, timeout=timeout
                ) as response:
                    if response.status_code == 200:
                        self._takes_extras = self._takes_extras and not is_plain
                        yield from self._response_lines(response, ends)
                        return
                    message = self._refusal(response)
            except httpx.HTTPError as error:
                is_over = time.monotonic() >= ends
                raise self._failed(TIME_OVER if is_over else self._reason(error, idle_s)) from None
            except UnicodeError as error:
                raise self._failed(str(error)) from None
            if response.status_code in (400, 422) and not is_plain and len(body) > 3:
                is_plain = True
                body = {name: body[name] for name in ("model", "messages", "stream")}
            elif response.status_code in BUSY and (wait := next(waits, None)):
                time.sleep(min(wait, max(0.0, ends - time.monotonic())))
            else:
                raise self._failed(message)

    def _response_lines(self, response: httpx.Response, ends: float) -> Iterator[bytes]:
        kind = response.headers.get("content-type", "")
        if "html" in kind:
            raise self._failed(f"expected the reply of a model, got a web page. {CHECK_URL}")
        n_bytes = 0
        rest = b""
        for data in response.iter_bytes():
            require_listener(self.name)
            n_bytes += len(data)
            if n_bytes > MAX_BYTES:
                raise self._failed(f"sent more than {MAX_BYTES:,} bytes")
            rest += data
            if not kind.startswith("application/json"):
                *lines, rest = rest.split(b"\n")
                yield from lines
            if time.monotonic() >= ends:
                raise self._failed(TIME_OVER)
        yield rest

    def _refusal(self, response: httpx.Response) -> str:
        """What a server says that does not answer."""
        if response.is_redirect:
            return f"redirects to {response.headers.get('location')}, which is not followed"
        data = b""
        for part in response.iter_bytes():
            data += part
            if len(data) > MAX_BYTES // 100:
                break
        try:
            record = json.loads(data)
            error = record.get("error") or record["detail"]
            said = error["message"] if isinstance(error, dict) else error
        except (AttributeError, ValueError, KeyError, TypeError):
            said = ""
        message = f"status {response.status_code} {said}".rstrip()
        is_no_place = response.status_code == 404 and said in ("", "Not Found")
        return f"{message}. {CHECK_URL}" if is_no_place else message

    def _reason(self, error: httpx.HTTPError, idle_s: float) -> str:
        """The reason of an error of the connection."""
        name = type(error).__name__
        if name in ("ConnectError", "ConnectTimeout"):
            return "no server answers there. Start it, or name another --base-url"
        if name == "ReadTimeout":
            return f"no byte for {idle_s:.0f} s. Wait longer with --idle-s"
        if name in ("ReadError", "RemoteProtocolError", "WriteError"):
            return "the server broke off. Its log has the reason"
        return str(error) or name

    def _failed(self, reason: str) -> GenerationFailed:
        """The error in one line without the key."""
        message = " ".join(reason.split())[:MAX_MESSAGE]
        return GenerationFailed(f"{self.url}: {message.replace(self._key, '…') if self._key else message}")


class OllamaServer(ChatServer):
    """A model of Ollama by its own protocol, because /v1 cuts long prompts without a word.

    The context is as long as a prompt needs. The digest is that of the model.
    """

    path = "/api/chat"
    kind = OLLAMA

    def __init__(self, base_url: str, model: str) -> None:
        super().__init__((base_url or ollama_url()).rstrip("/").removesuffix("/v1"), model)
        self._digest: str | None = None

    @property
    def digest(self) -> str:
        """The digest of the model, "" where the server does not say it."""
        if self._digest is None:
            import httpx

            try:
                models = self._client.get(f"{self.url}/api/tags", timeout=CONNECT_S).json()["models"]
                names = {name: each["digest"] for each in models for name in (each["name"], each["model"])}
                self._digest = str(names.get(self.model) or names.get(f"{self.model}:latest") or "")
            except (httpx.HTTPError, ValueError, KeyError, TypeError):
                self._digest = ""
        return self._digest

    def _body(
        self, messages: Sequence[Message], max_tokens: int, schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "messages": list(messages), "stream": True}
        n_prompt = sum(self.count_tokens(message["content"]) for message in messages)
        body["options"] = {"temperature": 0, "num_ctx": n_prompt + max_tokens, "num_predict": max_tokens}
        body["keep_alive"] = KEEP_ALIVE
        if not self._takes_extras:
            return body
        return body | {"think": False} | ({} if schema is None else {"format": schema})

    def _piece(self, record: Mapping[str, Any]) -> Piece:
        said = record.get("message") or {}
        return Piece(
            said.get("content") or "",
            said.get("thinking") or "",
            record.get("prompt_eval_count") or 0,
            record.get("eval_count") or 0,
            record.get("done_reason") == "length",
        )


class OllamaEncoder(OllamaServer):
    """An embedding model of Ollama, with the interface of `retrieval.protocol.Encoder`."""

    path = "/api/embed"

    def __init__(self, model: str) -> None:
        super().__init__("", model)
        self._takes_extras = False

    @property
    def digest(self) -> str:
        """The digest of the model; ModelNotFound where the server has none."""
        if digest := super().digest:
            return digest
        raise ModelNotFound(f"{self.url} has no model {self.model}. Start Ollama and pull the model")

    @cached_property
    def width(self) -> int:
        """The number of dimensions."""
        return int(self.encode_questions(["a"]).shape[1])

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, width) float32, rows unit-norm, in the order of the texts; GenerationFailed as `complete`."""
        return self.encode_passages(texts)

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """As `encode_questions`; `on_progress` gets the count done."""
        blocks = []
        for start in range(0, len(texts), EMBEDDED):
            blocks.append(self._embedded(texts[start : start + EMBEDDED]))
            on_progress(start + len(blocks[-1]))
        return np.concatenate(blocks) if blocks else np.empty((0, self.width), np.float32)

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        body = {"model": self.model, "input": list(texts), "keep_alive": KEEP_ALIVE}
        reply = b"".join(self._lines(body, EMBEDDING_S, time.monotonic() + EMBEDDING_S))
        try:
            vectors: NDArray[np.float32] = np.array(json.loads(reply)["embeddings"], np.float32)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._failed(f"sent no embeddings but {reply[:60]!r}") from None
        norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not (norms > 0).all() or np.isinf(norms).any():
            raise self._failed(
                f"sent embeddings of {vectors.shape} for {len(texts)} texts, or without length"
            )
        vectors /= norms
        return vectors


def ollama_url() -> str:
    """The address of Ollama where none is named: that of its own variable, or its default."""
    url = os.environ.get("OLLAMA_HOST", "") or OLLAMA_URL
    return url if "//" in url else f"http://{url}"


def key_of(url: str) -> str:
    """The key of the environment for this URL, or ""; ValueError for a key without a URL."""
    key = os.environ.get(KEY, "").strip()
    belongs_to = os.environ.get(KEY_URL, "").strip().rstrip("/")
    if key and not belongs_to:
        raise ValueError(f"{KEY} is set, but not where it may be sent: set {KEY_URL} to the server's URL")
    return key if url == belongs_to else ""


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
