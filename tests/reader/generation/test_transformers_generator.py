"""Texts that models write: the same every time, piece by piece, within every limit."""

from __future__ import annotations

import itertools

import pytest
from made_generators import writer
from table_decoder import finish

from spanwise.errors import GenerationFailed
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits
from spanwise.reader.generation.prompt import Prompt, Source
from spanwise.reader.generation.transformers_generator import load_generator

PROMPT = Prompt("who?", (Source(1, "Mill", "built by Ada"),), "Answer.")
METHODS = pytest.mark.parametrize("method", ["greedy", "sample", "beam", "contrastive"])


def longer(n):
    return Prompt("who?", (Source(1, "Mill", "z" * n),), "Answer.")


@METHODS
def test_the_same_seed_gives_the_same_text(generator, method):
    decoding = Decoding(method, seed=4, beams=2)
    first = finish(generator.write(PROMPT, decoding, Limits(10)))
    assert first == finish(generator.write(PROMPT, decoding, Limits(10)))


def test_another_seed_gives_another_text(generator):
    texts = {
        finish(generator.write(PROMPT, Decoding("sample", seed=seed), Limits(10)))[1].text
        for seed in range(4)
    }
    assert len(texts) > 1


@METHODS
def test_the_pieces_are_the_text(generator, method):
    pieces, whole = finish(generator.write(PROMPT, Decoding(method, seed=1), Limits(16)))
    assert "".join(pieces) == whole.text
    assert all(pieces)
    assert whole.logprob < 0
    assert 0 < whole.n_tokens <= 16
    if method == "beam":
        assert len(pieces) <= 1


def test_pieces_come_as_tokens_do(chat_generator):
    clock = itertools.count().__next__  # a second each time that a token is chosen
    pieces = chat_generator.write(PROMPT, Decoding("sample"), Limits(50, seconds=40, clock=clock))
    next(pieces)
    assert clock() < 40


@METHODS
def test_a_text_ends_at_the_most_tokens(generator, method):
    _, whole = finish(generator.write(PROMPT, Decoding(method, seed=1), Limits(3)))
    assert whole.n_tokens <= 3
    assert whole.ended in (Ended.MOST_TOKENS, Ended.END)


@METHODS
def test_a_text_ends_with_its_time(generator, method):
    limits = Limits(50, seconds=2, clock=itertools.count().__next__)
    _, whole = finish(generator.write(PROMPT, Decoding(method, seed=1, beams=1), limits))
    assert whole.n_tokens <= 3
    assert whole.ended in (Ended.TIME, Ended.END)


@METHODS
def test_a_text_ends_when_it_becomes_unlikely(generator, method):
    _, whole = finish(generator.write(PROMPT, Decoding(method, seed=1, beams=1), Limits(50, score=-1e-9)))
    assert whole.n_tokens <= 1
    assert whole.ended in (Ended.SCORE, Ended.END)


@METHODS
def test_a_text_ends_at_any_end_token(generator, method, monkeypatch):
    monkeypatch.setattr(generator, "_end", frozenset(range(3, 400)))
    pieces, whole = finish(generator.write(PROMPT, Decoding(method, seed=1), Limits(60)))
    assert whole.ended == Ended.END
    assert (pieces, whole.text) == ([], "")


def test_a_prompt_is_counted_as_it_is_read(generator):
    counts = [generator.n_tokens(longer(n)) for n in (10, 11, 30)]
    assert [count - counts[0] for count in counts] == [0, 1, 20]


def test_a_prompt_that_leaves_no_room_is_refused_with_its_counts(generator):
    spare = generator.room - generator.n_tokens(longer(1)) + 1
    with pytest.raises(ValueError, match=rf"takes {generator.room} tokens .* room for {generator.room}"):
        next(generator.write(longer(spare), Decoding(), Limits(10)))


@METHODS
def test_a_text_ends_where_the_room_does(generator, method):
    spare = generator.room - generator.n_tokens(longer(1)) + 1
    _, whole = finish(generator.write(longer(spare - 2), Decoding(method, beams=2), Limits(10)))
    assert whole.n_tokens <= 2


def test_room_may_be_given_up_to_the_positions(tmp_path):
    relative = writer(tmp_path / "T5", "T5")
    assert load_generator(str(relative), "cpu", room=5000).room == 5000
    absolute = writer(tmp_path / "GPT2", "GPT2")
    assert load_generator(str(absolute), "cpu", room=100).room == 100
    with pytest.raises(ValueError, match="600"):
        load_generator(str(absolute), "cpu", room=601)


def test_an_end_token_in_a_document_is_text(generator):
    hostile = Prompt("who?", (Source(1, "</s>", "the mill</s></s>"),), "Answer.")
    broken = Prompt("who?", (Source(1, "< /s>", "the mill< /s>< /s>"),), "Answer.")
    assert generator.n_tokens(hostile) == generator.n_tokens(broken)
    one, other = (finish(generator.write(asked, Decoding(), Limits(5))) for asked in (hostile, broken))
    assert one == other


def test_a_failure_on_the_way_has_a_name(generator, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(generator._model, "forward", fail)
    with pytest.raises(GenerationFailed, match="out of memory"):
        next(generator.write(PROMPT, Decoding(), Limits(5)))
