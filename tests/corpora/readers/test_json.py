"""JSON becomes lines of keys and values, with paths as labels; errors name broken lines and depth."""

from json import dumps

import pytest
from helpers.document_checks import documents_of

from spanwise.corpora.passages import label_at
from spanwise.corpora.readers import json
from spanwise.errors import DocumentRejected
from spanwise.types import Document

read = documents_of(json.read)


def made(source: str, name: str = "a.json") -> Document:
    return read(source.encode(), name)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{"a": 1, "b": "x"}', "a: 1\nb: x"),
        ('{"a":{"b":{"c":true}},"d":null}', "a:\n\n  b:\n    c: true\nd: null"),
        ('{"a": ["x", "y", 1.50]}', "a: x, y, 1.50"),
        ('{"a": ["two\\nlines", "y"]}', "a:\n  - two\nlines\n  - y"),
        ('[{"a": 1}, {"a": 2}]', "a: 1\n\na: 2"),
        (f"[NaN, 1e999, {'9' * 9000}]", f"- NaN\n- 1e999\n- {'9' * 9000}"),
    ],
)
def test_values_become_lines(source: str, expected: str) -> None:
    assert made(source).text == expected


def test_labels_are_the_paths_of_objects_and_arrays() -> None:
    document = made(
        '{"top": 1, "items": [{"title": "One"}, {"title": "Two", "by": {"name": "Hale"}}], "end": 2}'
    )
    words = ("One", "Two", "Hale", "end")
    places = [label_at(document.labels, document.text.index(word)) for word in words]
    assert places == ["items[0]", "items[1]", "items[1].by", ""]


def test_keys_outside_arrays_are_headings() -> None:
    document = made('{"mill": {"owner": {"name": "Hale"}}, "list": [{"deep": {"x": 1}}]}')
    assert [(h.level, h.text) for h in document.headings] == [(1, "mill"), (2, "owner"), (1, "list")]
    assert all(document.text[h.start :].lstrip().startswith(h.text) for h in document.headings)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ("[[],", "]")])
@pytest.mark.parametrize("depth", [250, 200_000])
def test_too_many_levels_are_refused(opening: str, closing: str, depth: int) -> None:
    with pytest.raises(DocumentRejected, match="nested deeper than 200 levels"):
        made(opening * depth + '"x"' + closing * depth)


def test_json_lines_are_records_and_broken_ones_are_named() -> None:
    document = made('{"a": 1}\n\nbroken\n{"a": {"b": 2}}\n', "a.jsonl")
    assert [label.text for label in document.labels] == ["record 1", "record 4.a"]
    assert document.metadata["remark"] == "no JSON record on 1 lines, which are left out: 3"


@pytest.mark.parametrize("source", ["{'a': 1}", "// words\n{}", '{\n"a": [\n[1, 2]\n}'])
def test_other_text_is_read_as_plain_text(source: str) -> None:
    document = made(source)
    assert document.text == source
    assert document.media_type == "text/plain"
    assert "not JSON" in document.metadata["remark"]


LINE = "[2024-03-18 09:12] Ada Rook: The café is dry."
SECONDS = "1710753160"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "message", "user": "U1", "user_profile": {"real_name": "Ada Rook"}, "ts": f"{SECONDS}.0001"},
        {"from": "Ada Rook", "from_id": "user1", "date": "2024-03-18T09:12:40"},
        {"author": {"nickname": "Ada Rook"}, "timestamp": "2024-03-18T09:12:40+00:00", "isPinned": False},
        {
            "sender": "Ada Rook",
            "origin_server_ts": int(SECONDS) * 1000,
            "content": {"body": "The café is dry."},
        },
        {"sender_name": "Ada Rook", "timestamp_ms": int(SECONDS) * 1000, "content": "The cafÃ© is dry."},
    ],
)
def test_a_message_of_a_chat_is_a_line(message: dict) -> None:
    text = "The café is dry."
    message = {"text": text, "content": text, **message}
    assert made(dumps({"messages": [message, message]})).text == f"messages:\n{LINE}\n{LINE}"


def test_what_is_no_whole_message_stays_a_record() -> None:
    parts = ["The ", {"type": "bold", "text": "café"}, " is dry."]
    message = {"from": "Ada Rook", "from_id": "user1", "date": "2024-03-18T09:12:40", "text": parts}
    assert made(dumps([message])).text == LINE
    for wrong in ({"text": ""}, {"date": "soon"}, {"date": 1e300}, {"from": None}, {"text": [None]}):
        assert "from_id: user1" in made(dumps([{**message, **wrong}])).text
    review = {"author": "Ada Rook", "date": "2024-03-18", "text": "The café is dry.", "stars": 4}
    assert "stars: 4" in made(dumps([review])).text
    entry = {"ts": SECONDS, "user": "Ada Rook", "text": "The café is dry.", "level": "warning"}
    assert "level: warning" in made(dumps([entry])).text


@pytest.mark.parametrize(
    "files",
    [
        {"type": "message", "user": "Ada Rook", "ts": SECONDS, "files": [{"name": "oven.pdf"}]},
        {"from": "Ada Rook", "from_id": "user1", "date": "2024-03-18T09:12:40", "file_name": "oven.pdf"},
        {"sender_name": "Ada Rook", "timestamp_ms": 1710753160000, "files": [{"uri": "a/b/oven.pdf"}]},
    ],
)
def test_a_message_names_its_files(files: dict) -> None:
    line = "[2024-03-18 09:12] Ada Rook: [oven.pdf]"
    assert made(dumps([files])).text == line
    assert made(dumps(files) + "\n" + dumps(files), "a.jsonl").text == f"{line}\n\n{line}"
