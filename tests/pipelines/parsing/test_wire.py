"""What comes over the pipe is a document, or refused before any of it is believed."""

from __future__ import annotations

from array import array
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.passages import split
from spanwise.corpora.reading import parse
from spanwise.pipelines.parsing import frames
from spanwise.pipelines.parsing.frames import BrokenFrame, receive, send
from spanwise.pipelines.parsing.wire import (
    WrongAnswer,
    document_from,
    document_header,
    parsed_from,
    passage_blocks,
)

DOCUMENT = parse(b"# The mill\n\nIt was built by Ada Rook.\n\n## Rules\n\nKeep off.\n", "mill.md")


def sent(*blocks: bytes) -> bytes:
    pipe = BytesIO()
    send(pipe, {"id": "a"}, *blocks)
    return pipe.getvalue()


@given(st.lists(st.binary(), max_size=3), st.dictionaries(st.text("aé\U0001f600"), st.integers()))
def test_a_message_arrives_as_it_was_sent(blocks, header):
    pipe = BytesIO()
    send(pipe, header, *blocks)
    pipe.seek(0)
    assert receive(pipe, len(blocks)) == (header, blocks)
    assert receive(pipe, len(blocks)) is None


@given(st.binary(max_size=64))
def test_noise_is_no_message(noise):
    try:
        received = receive(BytesIO(noise), 1)
    except BrokenFrame:
        return
    assert received is None or isinstance(received[0], dict)


@pytest.mark.parametrize("length", range(1, len(sent(b"block"))))
def test_a_message_cut_short_is_broken(length):
    with pytest.raises(BrokenFrame):
        receive(BytesIO(sent(b"block")[:length]), 1)


def test_a_message_over_the_limit_is_neither_sent_nor_read(monkeypatch):
    message = sent(b"block")
    monkeypatch.setattr(frames, "MAX_BLOCK", 4)
    with pytest.raises(BrokenFrame, match="over the limits"):
        receive(BytesIO(message), 1)
    with pytest.raises(BrokenFrame, match="over the limits"):
        sent(b"block")


@given(st.lists(st.tuples(st.integers(-3, 70), st.integers(-3, 70)), max_size=4))
def test_spans_are_taken_only_in_order_and_inside_the_text(spans):
    block = array("q", [offset for span in spans for offset in span]).tobytes()
    try:
        parsed = parsed_from(DOCUMENT, block, b"\n" * (len(spans) - 1))
    except WrongAnswer:
        return
    assert [(p.start, p.end) for p in parsed.passages] == spans == sorted(spans)
    assert all(0 <= start < end <= len(DOCUMENT.text) for start, end in spans)


def test_passages_that_repeat_the_text_many_times_are_refused():
    long = parse(b"word " * 2_000, "long.txt")
    spans = array("q", [offset for i in range(1_000) for offset in (i, 9_000 + i)]).tobytes()
    with pytest.raises(WrongAnswer, match="many times"):
        parsed_from(long, spans, b"\n" * 999)


def test_terms_of_other_passages_are_refused():
    spans, terms = passage_blocks(split(DOCUMENT), [["one"], ["two"], ["three"]])
    with pytest.raises(WrongAnswer, match="lines of terms"):
        parsed_from(DOCUMENT, spans, terms)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", 7),
        ("media_type", None),
        ("page_starts", [3, 1]),
        ("page_starts", [True]),
        ("page_starts", [1.5]),
        ("headings", [[0, 1]]),
        ("headings", [[0, 0, "top"]]),
        ("labels", [[10**9, "slide"]]),
        ("labels", {"0": "slide"}),
        ("metadata", {"a": 1}),
        ("metadata", []),
    ],
)
def test_fields_of_the_wrong_kind_are_refused(name, value):
    with pytest.raises(WrongAnswer):
        document_from({**document_header(DOCUMENT), name: value}, b"The text", "mill.md", "x")
