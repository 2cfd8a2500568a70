"""Summaries over HTTP: whole, or sentence by sentence with an end that says that it is whole."""

from __future__ import annotations

import json

from spanwise.errors import GenerationFailed
from spanwise.pipelines.summarizing import summarize

ASKED = {"question": "Who built the mill?", "retriever": "bm25", "length": "short"}


def events(response) -> list[tuple[str, dict]]:
    """The names and values of a stream of events."""
    parts = [part.splitlines() for part in response.text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in parts]


def test_a_summary_cites_spans_of_its_documents(client, library):
    record = client.post("/api/summarize", json=ASKED).json()
    cited = record["sentences"][0]["citations"][0]
    assert library.document(cited["document"]).text[cited["start"] : cited["end"]] == cited["text"]
    assert cited["utf16"] == {"start": cited["start"], "end": cited["end"]}


def test_a_stream_gives_each_sentence_and_then_the_whole(client):
    whole = client.post("/api/summarize", json=ASKED).json()
    *sentences, (last, summary) = events(client.post("/api/summarize", json={**ASKED, "stream": True}))
    assert [name for name, _ in sentences] == ["sentence"] * len(whole["sentences"])
    assert [record for _, record in sentences] == whole["sentences"] == summary["sentences"]
    assert last == "summary"


def test_a_summary_that_breaks_off_ends_with_an_error(client, library, monkeypatch):
    sentences = summarize.Summarizer.sentences

    def broken(self):
        yield next(sentences(self))
        raise GenerationFailed("the generator went away")

    monkeypatch.setattr(summarize.Summarizer, "sentences", broken)
    names = [name for name, _ in events(client.post("/api/summarize", json={**ASKED, "stream": True}))]
    assert names == ["sentence", "error"]
    assert client.post("/api/summarize", json=ASKED).status_code == 502


def test_a_document_is_summarized_by_its_id(client):
    record = client.post("/api/summarize", json={"document": "mill.md"}).json()
    assert {one["document"] for each in record["sentences"] for one in each["citations"]} == {"mill.md"}
    assert client.post("/api/summarize", json={"document": "/etc/hostname"}).status_code == 404


def test_a_question_and_a_document_exclude_each_other(client):
    assert client.post("/api/summarize", json={**ASKED, "document": "mill.md"}).status_code == 400
