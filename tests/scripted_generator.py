"""A generator that writes what it was told to, piece by piece, and keeps the prompts that it got."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Sequence

from spanwise.errors import GenerationFailed
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.prompt import Prompt
from spanwise.reader.generation.protocol import Written


class ScriptedGenerator:
    """Writes `texts` one after the other, the last again and again; `fails_after` pieces it fails."""

    name = digest = "scripted"

    def __init__(self, *texts: str, room: int = 100_000, fails_after: int | None = None) -> None:
        self.texts, self.room, self._fails_after = list(texts), room, fails_after
        self.prompts: list[Prompt] = []

    def n_tokens(self, prompt: Prompt) -> int:
        return len(prompt.instructions) + len(prompt.fenced())

    def write(self, prompt: Prompt, decoding: Decoding, limits: Limits) -> Pieces[str, None, Written]:
        self.prompts.append(prompt)
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        pieces: Sequence[str] = [text[at : at + 7] for at in range(0, len(text), 7)]
        for number, piece in enumerate(pieces):
            if number == self._fails_after:
                raise GenerationFailed("scripted: it failed")
            yield piece
        return Written(text, Ended.END, len(pieces))
