"""A generator behind an address: any server that speaks the chat protocol of OpenAI, as a stream.

Passages and question leave this process for that address, and for no other. What comes back is data: it is
bounded, stripped of controls, and never shown as whole unless the server said that it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator as Pieces
from itertools import count
from typing import Any

import httpx

from spanwise.errors import GenerationFailed

from ..decoding.settings import Decoding
from ..decoding.stopping import Ended, Limits
from .chat_chunks import chunk_of, json_object
from .chat_request import chat_request, most_tokens
from .endpoint_settings import EndpointSettings, key_for, split_name
from .exchange import answered, body_of, client_for, cut_off
from .faults import Fault, without
from .plain_text import PlainText
from .prompt import Prompt
from .protocol import Written
from .refusals import listed, no_such_model, refusal, told_by
from .retrying import BackOff
from .server_events import events
from .time_left import TimeLeft

SETTINGS = EndpointSettings()
BACK_OFF = BackOff()


class Endpoint:
    """The generator `model` of the server at `url`, which is asked anew for each text; see `endpoint_of`."""

    def __init__(
        self, url: httpx.URL, model: str, settings: EndpointSettings = SETTINGS, back_off: BackOff = BACK_OFF
    ) -> None:
        self.name = f"{url}#{model}"
        self.digest = hashlib.sha256(self.name.encode()).hexdigest()
        self.room = settings.room
        self._url, self._model, self._settings, self._back_off = url, model, settings, back_off

    def __repr__(self) -> str:
        """How it is named; the key is no part of it."""
        return f"Endpoint({self.name!r})"

    def n_tokens(self, prompt: Prompt) -> int:
        """An upper estimate from the bytes of the prompt, see `most_tokens`."""
        return most_tokens(prompt)

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        """Yields the text as it comes, returns all of it, also when the seconds of `limits` end it.

        Raises ValueError before anything is sent for decoding and limits that an endpoint cannot follow, and
        for a key that must not travel; GenerationFailed for whatever goes wrong on the way. It is up to the
        server to stop at `limits.tokens`.
        """
        body = chat_request(self._model, prompt, decoding, limits)
        key = key_for(self._url, self._settings)
        time_left = TimeLeft(limits, self._settings.total_s)
        for attempt in count():
            text = _Text()
            try:
                return (yield from self._written(body, key, text, time_left))
            except Fault as fault:
                if fault.wire and time_left.is_late:
                    return (yield from text.end(Ended.TIME))
                wait_s = self._back_off.wait_s(attempt, fault.retry_after)
                goes_on = fault.again and not text.pieces and attempt < self._settings.retries
                if not goes_on or wait_s >= time_left.seconds():
                    tries = f" (tried {attempt + 1} times)" if attempt else ""
                    raise GenerationFailed(f"{self.name}: {fault.line(key)}{tries}") from None
            self._back_off.sleep(wait_s)
        raise AssertionError("unreachable")  # pragma: no cover

    def _written(
        self, body: dict[str, Any], key: str | None, text: _Text, time_left: TimeLeft
    ) -> Pieces[str, None, Written]:
        """One try. Raises a Fault if the text does not come to its end."""
        with (
            client_for(self._url, self._settings, key) as client,
            answered(client, f"{self._url}/chat/completions", self._settings, time_left, body) as response,
        ):
            if response.status_code == 404:
                told = told_by(response)
                models = _models_if_told(client, self._url, self._settings, time_left)
                raise no_such_model(self._model, models, told)
            if fault := refusal(response, self._settings, has_key=key is not None):
                raise fault
            for event in events(body_of(response)):
                if event.data == "[DONE]":
                    return (yield from text.end(Ended.END))
                chunk = chunk_of(event)
                yield from text.add(chunk.text, chunk.n_tokens)
                if chunk.ended or time_left.is_late:
                    return (yield from text.end(chunk.ended or Ended.TIME))
                if time_left.is_spent:
                    break
        raise cut_off(time_left)


class _Text:
    """What was yielded of a text."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._plain, self._n_events, self._n_told = PlainText(), 0, 0

    def add(self, piece: str, n_tokens: int | None) -> Pieces[str, None, None]:
        """Yields what of the piece can be shown; keeps the server's count of tokens, if it has one."""
        self._n_events += bool(piece)
        self._n_told = n_tokens or self._n_told
        yield from self._shown(self._plain.add(piece))

    def end(self, ended: Ended) -> Pieces[str, None, Written]:
        """Yields what is left and returns the whole; without a count, each event with text is a token."""
        yield from self._shown(self._plain.rest())
        return Written("".join(self.pieces), ended, self._n_told or self._n_events)

    def _shown(self, piece: str) -> Pieces[str, None, None]:
        if piece:
            self.pieces.append(piece)
            yield piece


def endpoint_of(name: str, settings: EndpointSettings = SETTINGS, back_off: BackOff = BACK_OFF) -> Endpoint:
    """The generator that a name as "http://127.0.0.1:11434/v1#llama3.2" means.

    Without a model behind "#" the server is asked, and has to have exactly one. Raises ValueError for a name
    that means none, or more than one, and GenerationFailed if the server does not tell its models.
    """
    url, model = split_name(name)
    key = key_for(url, settings)  # refuses one that may not be sent there before anything is asked
    if not model:
        models = models_of(url, settings)
        if len(models) != 1:
            names = without(listed(models), key)
            raise ValueError(f"{url} has {len(models)} models; name one as {url}#MODEL: {names}")
        model = models[0]
    return Endpoint(url, model, settings, back_off)


def models_of(url: httpx.URL, settings: EndpointSettings = SETTINGS) -> list[str]:
    """The names of the models that the server at this address has; GenerationFailed if it does not tell."""
    key = key_for(url, settings)
    try:
        with client_for(url, settings, key) as client:
            time_left = TimeLeft(Limits(), settings.total_s)
            return _models(client, url, settings, time_left, has_key=key is not None)
    except Fault as fault:
        raise GenerationFailed(f"{url}: {fault.line(key)}") from None


def _models(
    client: httpx.Client, url: httpx.URL, settings: EndpointSettings, time_left: TimeLeft, has_key: bool
) -> list[str]:
    """The names of the models that the server has. Raises a Fault if it does not tell."""
    with answered(client, f"{url}/models", settings, time_left) as response:
        if response.status_code != 200:
            raise refusal(response, settings, has_key) or Fault("does not tell its models")
        value = json_object(b"".join(body_of(response)))
    models = value.get("data") if value else None
    if not isinstance(models, list):
        raise Fault("does not tell its models; name one behind #")
    return [model["id"] for model in models if isinstance(model, dict) and isinstance(model.get("id"), str)]


def _models_if_told(
    client: httpx.Client, url: httpx.URL, settings: EndpointSettings, time_left: TimeLeft
) -> list[str]:
    try:
        return _models(client, url, settings, time_left, has_key=True)
    except Fault:
        return []
