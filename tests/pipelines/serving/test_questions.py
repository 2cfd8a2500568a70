"""Searching and asking over HTTP gives the records of the command line, with offsets of UTF-16."""

from __future__ import annotations

import pytest

ASKED = {"question": "Who built the mill?", "retriever": "bm25"}


def test_a_search_gives_the_record_of_the_command_line(client, library):
    record = client.post("/api/search", json={**ASKED, "k": 2}).json()
    hits = library.search(ASKED["question"], k=2, retriever="bm25")
    assert [hit["passage"] for hit in record["hits"]] == [hit.passage.id for hit in hits]
    assert record["retriever"] == "bm25"


def test_an_answer_is_a_span_of_its_document(client, library):
    answer = client.post("/api/ask", json=ASKED).json()["answer"]
    assert library.document(answer["document"]).text[answer["start"] : answer["end"]] == "Ada Rook"


def test_spans_carry_offsets_of_utf_16(client, folder, library):
    (folder / "mill.md").write_text("𝄞𝄞 The mill was built by Ada Rook.\n", encoding="utf-8")
    library.sync(vectors=False)
    answer = client.post("/api/ask", json=ASKED).json()["answer"]
    text = library.document("mill.md").text.encode("utf-16-le")
    start, end = answer["utf16"]["start"], answer["utf16"]["end"]
    assert text[2 * start : 2 * end].decode("utf-16-le") == "Ada Rook"
    assert start == answer["start"] + 2


def test_a_declined_question_leads_to_passages_with_offsets_of_utf_16(client, folder, library):
    (folder / "owl.md").write_text("# An owl 𝄞\n\nIt sings 𝄞 at night.\n", encoding="utf-8")
    library.sync(vectors=False)
    record = client.post("/api/ask", json={"question": "Which owl sings?", "retriever": "bm25"}).json()
    assert record["answer"] is None
    [hit] = record["nearest"]
    text = library.document("owl.md").text.encode("utf-16-le")
    assert text[2 * hit["utf16"]["start"] : 2 * hit["utf16"]["end"]].decode("utf-16-le") == hit["text"]


def test_a_filter_says_what_it_left(client):
    record = client.post("/api/search", json={**ASKED, "where": {"types": ["html"]}}).json()
    assert record["filter"]["documents"] == 1


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("k", 101, "k is 101, expected at most 100"),
        ("k", 0, "k: Input should be greater than or equal to 1"),
        ("question", "\0", "U+0000 is no character of a question"),
        ("question", "a\x1b[2J", "U+001B is no character of a question"),
        ("question", " ", "the question is empty"),
        ("question", "x" * 4097, "the question has 4,097 characters, expected at most 4,096"),
        ("retriever", "/etc/passwd", "retriever must be one of"),
        ("reader", "mine", "reader: Extra inputs are not permitted"),
        ("where", {"types": ["exe"]}, "no document is of type 'exe'"),
        ("where", {"after": "soon"}, "soon"),
        ("where", {"paths": [""]}, "where.paths.0"),
    ],
)
def test_a_wrong_field_is_told(client, field, value, told):
    response = client.post("/api/search", json={**ASKED, field: value})
    assert response.status_code == 400
    assert told in response.json()["error"]["message"]
