"""A generator that is no part of this package, held to what every generator promises."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from typing import Any

from spanwise.errors import GenerationFailed, PluginFailed, SpanwiseError

from ..decoding.settings import Decoding
from ..decoding.stopping import Limits
from .prompt import Prompt
from .protocol import Generator, Written

NEEDED = {"digest": str, "room": int}


class PluggedGenerator:
    """The generator of a plug-in; `label` is what it is called when it fails. PluginFailed for none."""

    def __init__(self, name: str, label: str, generator: Generator) -> None:
        given: Any = generator
        for field, kind in NEEDED.items():
            if type(getattr(given, field, None)) is not kind:
                raise PluginFailed(f"{label} has no {field}, which is to be of the type {kind.__name__}")
        for method in ("n_tokens", "write"):
            if not callable(getattr(given, method, None)):
                raise PluginFailed(f"{label} has no method {method}")
        self.name, self.digest, self.room = name, generator.digest, generator.room
        self._label, self._generator = label, generator

    def n_tokens(self, prompt: Prompt) -> int:
        """How many tokens this prompt takes."""
        try:
            n = self._generator.n_tokens(prompt)
        except Exception as error:
            raise self._failed(error) from error
        if type(n) is not int or n < 0:
            raise PluginFailed(f"{self._label} counted {n!r} tokens")
        return n

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        """Yields the text as it comes, returns all of it; GenerationFailed when the plug-in fails."""
        pieces: list[str] = []
        try:
            written = yield from self._heard(self._generator.write(prompt, decoding, limits), pieces)
        except ValueError as error:
            if pieces:
                raise self._failed(error) from error
            raise  # it cannot follow `decoding`
        except Exception as error:
            raise self._failed(error) from error
        if not isinstance(written, Written):
            raise GenerationFailed(f"{self._label} returned {written!r:.60} where Written was expected")
        if written.text != "".join(pieces):
            raise GenerationFailed(f"{self._label} returned another text than it yielded")
        return written

    def _heard(self, source: Pieces[str, None, Written], pieces: list[str]) -> Pieces[str, None, Written]:
        while True:
            try:
                piece = next(source)
            except StopIteration as end:
                written: Written = end.value
                return written
            if not isinstance(piece, str):
                raise GenerationFailed(f"{self._label} wrote {piece!r:.60}, which is no text")
            pieces.append(piece)
            yield piece

    def _failed(self, error: Exception) -> SpanwiseError:
        if isinstance(error, SpanwiseError):
            return error
        return GenerationFailed(f"{self._label} failed: {type(error).__name__}: {error}")
