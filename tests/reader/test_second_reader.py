"""The most relevant passages are read again by a larger reader; the built-in reader is "fast" without it."""

import hashlib
import shutil
from types import SimpleNamespace

import pytest

from spanwise.models import model_files
from spanwise.models.model_files import FAST, model_digest, reader_folder
from spanwise.reader.load import load_reader
from spanwise.reader.second_reader import N_PASSAGES, SecondReader
from spanwise.reader.span_reader import SpanReader
from spanwise.types import Passage, ScoredSpan, Span


def passage(number: int, text: str = "mill") -> Passage:
    return Passage(number, "a.txt", 0, len(text), text)


def reader(relevance_of, score=1.0):
    """A reader of one span a passage; an empty passage has none."""
    asked = []

    def read(questions, passages, n_best):
        asked.append([[p.id for p in group] for group in passages])
        return [
            [
                [ScoredSpan(Span("a.txt", 0, 4, "mill"), p, score, 0.0, relevance=relevance_of(p.id))]
                if p.text
                else []
                for p in group
            ]
            for group in passages
        ]

    return SimpleNamespace(read=read, asked=asked, digest=str(score), answers_null=True)


def test_the_most_relevant_passages_are_read_again_and_the_others_give_no_span():
    first = reader(float)
    second = reader(lambda number: 100.0, score=7.0)
    passages = [passage(0, ""), *map(passage, range(1, 21))]
    [reading] = SecondReader(first, second).read(["who?"], [passages], 2)
    assert second.asked == [[list(range(21 - N_PASSAGES, 21))]]
    assert [number for number, spans in enumerate(reading) if spans] == list(range(21 - N_PASSAGES, 21))
    [best] = reading[20]
    assert best.score == 7
    assert best.relevance == (20 + 100) / 2


def test_what_the_small_reader_has_read_is_not_read_again():
    first = reader(float)
    both = SecondReader(first, reader(float))
    both.first.read(["who?"], [[passage(1)]], 2)
    both.read(["who?"], [[passage(1), passage(2)]], 2)
    assert first.asked == [[[1]], [[2]]]


def test_a_question_is_read_as_among_others():
    both = SecondReader(reader(float), reader(lambda number: 1.0))
    groups = [[passage(1), passage(2)], [], [passage(3)]]
    together = both.read(["a?", "b?", "c?"], groups, 1)
    assert together == [both.read([q], [group], 1)[0] for q, group in zip("abc", groups, strict=True)]


def test_the_built_in_reader_is_the_fast_one_without_the_larger_file_or_on_demand(tmp_path, monkeypatch):
    fast = shutil.copytree(reader_folder(FAST), tmp_path / "reader")
    monkeypatch.setattr(model_files, "builtin_folder", lambda kind: fast)
    monkeypatch.delenv("SPANWISE_READER")
    assert reader_folder("builtin") == fast
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "second.safetensors").write_bytes(b"")
    assert reader_folder("builtin") == tmp_path / "second"
    assert reader_folder(FAST) == fast
    monkeypatch.setenv("SPANWISE_READER", FAST)
    assert reader_folder("builtin") == fast


def test_both_readers_are_named_in_the_digest(monkeypatch):
    monkeypatch.delenv("SPANWISE_READER")
    assert model_digest("builtin", "reader") != model_digest(FAST, "reader")
    first, second = reader(float), reader(float, 2.0)
    assert SecondReader(first, second).digest == hashlib.sha256(b"1.0 2.0").hexdigest()


@pytest.mark.reliability
def test_the_larger_reader_reads_what_is_said_in_other_words(monkeypatch):
    monkeypatch.delenv("SPANWISE_READER")
    texts = ["The boiler is in the cellar. It is oiled in May.", "No warm air: check the thermostat valve."]
    passages = [passage(number, text) for number, text in enumerate(texts)]
    both = load_reader("builtin")
    assert isinstance(both, SecondReader)
    assert isinstance(both.second, SpanReader)
    [[oiled, valve]] = both.read(["What should I look at if the heater only blows cold?"], [passages], 1)
    assert valve[0].relevance > oiled[0].relevance
    assert "valve" in valve[0].span.text
