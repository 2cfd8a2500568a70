"""OpenAI's own client asks, and the citations come with the answer."""

from __future__ import annotations

import pytest

BM25 = {"spanwise": {"retriever": "bm25"}}
QUESTION = "Who built the mill?"


@pytest.fixture
def chat(client):
    """OpenAI's client of this server, without its retries."""
    openai = pytest.importorskip("openai")
    made = openai.OpenAI(
        base_url="http://127.0.0.1:8765/v1", api_key="none", max_retries=0, http_client=client
    )
    return made.chat.completions


def asked(chat, *messages, **more):
    given = [{"role": role, "content": content} for role, content in messages or [("user", QUESTION)]]
    return chat.create(model="spanwise", messages=given, extra_body=BM25, **more)


def test_an_answer_is_a_sentence_with_marks_and_citations(chat, library):
    found = asked(chat)
    message = found.choices[0].message
    assert message.content == "The mill was built in 1811 by Ada Rook. [1]"
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == "[1]"
    assert cited.url.startswith("mill.md#char=")
    assert found.model_extra["spanwise"]["answer"]["text"] == "Ada Rook"


def test_a_stream_ends_with_the_citations(chat):
    chunks = list(asked(chat, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == "The mill was built in 1811 by Ada Rook. [1]"
    assert [chunk.choices[0].finish_reason for chunk in chunks][-1] == "stop"
    assert chunks[-1].choices[0].delta.model_extra["annotations"][0]["url_citation"]["title"] == "mill.md"


def test_of_a_conversation_the_last_question_is_answered(chat):
    talk = [
        ("system", "Answer in verse."),
        ("user", "Who raised the weir?"),
        ("assistant", "Nobody."),
        ("user", QUESTION),
    ]
    assert asked(chat, *talk).choices[0].message.content.startswith("The mill was built")


def test_what_the_documents_do_not_say_is_declined(client):
    body = {"messages": [{"role": "user", "content": "zebra"}], "spanwise": {"retriever": "bm25"}}
    record = client.post("/v1/chat/completions", json=body).json()
    assert record["choices"][0]["message"]["content"].startswith("The answer is not in these documents.")
    assert (record["spanwise"]["answer"], record["spanwise"]["nearest"]) == (None, [])


def test_a_declined_question_names_the_documents_of_its_passages(client):
    body = {"messages": [{"role": "user", "content": "tram zebra"}], "spanwise": {"retriever": "bm25"}}
    record = client.post("/v1/chat/completions", json=body).json()
    told = record["choices"][0]["message"]["content"]
    assert told == "The answer is not in these documents. Nearest: tram.txt."
    assert [hit["document"] for hit in record["spanwise"]["nearest"]] == ["tram.txt"]


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        {"messages": [{"role": "system", "content": "x"}]},
        {"messages": [{"role": "user", "content": "a\0"}]},
        {"messages": [{"role": "user", "content": "x"}], "model": "/etc/model"},
        {"messages": [{"role": "user", "content": "x"}], "spanwise": {"reader": "/etc/model"}},
    ],
)
def test_a_wrong_request_is_told_in_one_form(client, body):
    response = client.post("/v1/chat/completions", json=body)
    assert response.status_code == 400
    assert set(response.json()["error"]) == {"type", "message"}


def test_the_one_model_is_listed(client):
    assert [one["id"] for one in client.get("/v1/models").json()["data"]] == ["spanwise"]
