"""A generator from elsewhere is held to its contract, and its failures are named."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scripted_generator import ScriptedGenerator

from spanwise.errors import GenerationFailed, PluginFailed
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.plugged import PluggedGenerator
from spanwise.reader.generation.prompt import prompt_of
from spanwise.reader.generation.protocol import Written

PROMPT = prompt_of("Who?", [("Mill", "Ada Rook built it.")], "one sentence")


class Whole(ScriptedGenerator):
    """Writes the pieces that it was told, and returns what it was told."""

    def __init__(self, *pieces, returned=None) -> None:
        super().__init__("")
        self.pieces, self.returned = pieces, returned

    def write(self, prompt, decoding, limits):
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece
        return self.returned or Written("".join(self.pieces), Ended.END, len(self.pieces))


def plugged(generator) -> PluggedGenerator:
    return PluggedGenerator("mine", "the plug-in 'mine'", generator)


def pieces_of(generator) -> list[str]:
    return list(plugged(generator).write(PROMPT, Decoding(), Limits()))


def test_a_generator_that_keeps_the_contract_is_passed_on():
    made = plugged(ScriptedGenerator("Ada Rook built it."))
    assert (made.name, made.digest, made.n_tokens(PROMPT) > 0) == ("mine", "scripted", True)
    assert pieces_of(ScriptedGenerator("Ada Rook built it.")) == ["Ada Roo", "k built", " it."]


@pytest.mark.parametrize("lacking", ["digest", "room", "n_tokens", "write"])
def test_what_is_no_generator_is_refused(lacking):
    parts = {"digest": "d", "room": 100, "n_tokens": len, "write": iter}
    with pytest.raises(PluginFailed, match=f"has no (method )?{lacking}"):
        plugged(SimpleNamespace(**{name: part for name, part in parts.items() if name != lacking}))


@pytest.mark.parametrize(
    "generator",
    [
        Whole("Ada ", 3),
        Whole("Ada ", OSError("the line broke")),
        Whole("Ada ", ValueError("late")),
        Whole("Ada", returned="Ada"),
        Whole("Ada", returned=Written("Ute", Ended.END, 1)),
    ],
    ids=["no text", "it raises", "it refuses late", "no Written", "another text"],
)
def test_a_text_that_does_not_come_to_its_end_is_none(generator):
    with pytest.raises(GenerationFailed, match=r"^the plug-in 'mine' "):
        pieces_of(generator)


def test_decoding_that_it_cannot_follow_stays_a_wrong_argument():
    with pytest.raises(ValueError, match="no beams here"):
        pieces_of(Whole(ValueError("no beams here")))


@pytest.mark.parametrize("n", [-1, 2.0, "3"])
def test_tokens_are_counted_in_whole_numbers(n):
    generator = ScriptedGenerator("x")
    generator.n_tokens = lambda prompt: n
    with pytest.raises(PluginFailed, match="counted"):
        plugged(generator).n_tokens(PROMPT)
