"""Asks the chat server of the tests, without waiting between the tries."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from itertools import count

from endpoint_server import Running

from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Limits
from spanwise.reader.generation.endpoint import Endpoint, endpoint_of
from spanwise.reader.generation.endpoint_settings import EndpointSettings
from spanwise.reader.generation.prompt import prompt_of
from spanwise.reader.generation.protocol import Written
from spanwise.reader.generation.retrying import BackOff

PROMPT = prompt_of("When does it open?", [("hours.md", "The library opens at nine.")], "one sentence")
GREEDY, LIMITS = Decoding(), Limits(tokens=50)
_NUMBERS = count()


class Asking:
    """One generator of the server: what it yielded and returned, how long it would have waited."""

    def __init__(self, server: Running, scene: str, *, longest_s: float = 30.0, **settings: object) -> None:
        self.server, self.scene = server, f"{scene}:{next(_NUMBERS)}"
        self.waits: list[float] = []
        self.pieces: list[str] = []
        back_off = BackOff(longest_s=longest_s, sleep=self.waits.append, draw=lambda: 1.0)
        given = EndpointSettings(**settings)  # type: ignore[arg-type]
        self.generator: Endpoint = endpoint_of(f"{server.v1}#{self.scene}", given, back_off)

    def written(self, decoding: Decoding = GREEDY, limits: Limits = LIMITS) -> Written:
        return collected(self.generator.write(PROMPT, decoding, limits), self.pieces)

    def n_asked(self) -> int:
        return len(self.server.asked(self.scene))


def collected(writing: Pieces[str, None, Written], pieces: list[str]) -> Written:
    """What a generator returns; its pieces go into the list as they come."""
    while True:
        try:
            pieces.append(next(writing))
        except StopIteration as end:
            written: Written = end.value
            return written
