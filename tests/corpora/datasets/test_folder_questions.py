"""Questions about folders get the texts of unchanged documents, and errors name the wrong line."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from spanwise.corpora.datasets.folder_questions import (
    WORDINGS,
    domains_of,
    everyday_wordings,
    read_folder_items,
    read_wordings,
    wording_key,
)
from spanwise.corpora.folder import read_regular
from spanwise.corpora.reading import parse
from spanwise.errors import DataMalformed
from spanwise.pipelines.training.questions import fetch_questions
from spanwise.types import Document

MILL = "# Mill\n\nAnn built it in 1887, by hand.\n"
PLACES = {"passage": [0, 38], "answer": [8, 28], "short": [24, 28]}
WHEN = {"id": "m-0", "question": "When?", "type": "factoid", "document": "mill.md", **PLACES}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for folder in ("towns", "questions"):
        (tmp_path / folder).mkdir()
    (tmp_path / "towns/mill.md").write_text(MILL)
    (tmp_path / "towns/tram.md").write_text("It stopped.")
    return write(tmp_path, WHEN, {**WHEN, "document": "tram.md"})


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    digests = {"mill.md": hashlib.sha256(MILL.encode()).hexdigest(), "tram.md": "", "weir.md": ""}
    head = {"repository": "ann/towns@12ab", "documents": digests}
    (folder / "questions/towns.jsonl").write_text("\n".join(map(json.dumps, (head, *rows))))
    return folder


def test_questions_of_unchanged_documents_get_their_texts(sources: Path) -> None:
    fetched = fetch_questions(sources, sources / "questions")
    [item] = read_folder_items(sources / "towns.jsonl")
    assert item.passage[item.start : item.end] == "Ann built it in 1887"
    assert item.passage == MILL.strip()
    assert item.heading == "Mill"
    assert item.short == "1887"
    assert item.verdict == ""
    assert list(fetched.written.values()) == [1]
    assert fetched.commands == {}
    assert "not the one" in fetched.left_out[str(sources / "towns/tram.md")]
    assert "cannot be opened" in fetched.left_out[str(sources / "towns/weir.md")]


def test_an_answer_that_is_not_at_its_place_is_refused(sources: Path) -> None:
    fetch_questions(sources, sources / "questions")
    moved = (sources / "towns.jsonl").read_text().replace('"answer_start": 8', '"answer_start": 9')
    (sources / "towns.jsonl").write_text(moved)
    with pytest.raises(DataMalformed, match=r"line 1: the answer .* is not at 9"):
        read_folder_items(sources / "towns.jsonl")


def test_the_command_that_gets_the_documents_is_named(sources: Path) -> None:
    command = fetch_questions(sources / "empty", sources / "questions").commands["towns"]
    place = sources / "empty/towns"
    assert command == f"git clone https://github.com/ann/towns {place} && git -C {place} checkout 12ab"
    with pytest.raises(DataMalformed, match="no questions there"):
        fetch_questions(sources, sources / "empty")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "who"}, "type is 'who'"),
        ({"answer": [8, 99]}, r"answer is \[8, 99\]; expected a start and an end in 0..38"),
        ({"short": [0, 6]}, "short is '# Mill'"),
        ({"type": "none"}, "but type is 'none'"),
        ({"document": "dam.md"}, "does not name the document 'dam.md'"),
    ],
)
def test_a_malformed_line_is_named(sources: Path, change: dict[str, Any], message: str) -> None:
    write(sources, WHEN, {**WHEN, **change})
    with pytest.raises(DataMalformed, match=rf"towns\.jsonl, line 3: .*{message}"):
        fetch_questions(sources, sources / "questions")


def test_the_wordings_of_all_files_are_joined(tmp_path: Path) -> None:
    key = wording_key("When was the mill built?")
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, wording in zip(paths, ("age of the mill", "how old is the mill"), strict=True):
        path.write_text(json.dumps({"of": key, "wording": wording}))
    assert read_wordings(*paths) == {key: ("age of the mill", "how old is the mill")}
    assert read_wordings(tmp_path / "nowhere.jsonl") == {}


def test_the_checkout_has_everyday_wordings() -> None:
    assert WORDINGS.is_file()
    assert everyday_wordings()


def test_the_passages_of_the_checkout_are_those_of_its_documents() -> None:
    root = WORDINGS.parents[1]
    paths = [*domains_of(root / "kinds").values(), *domains_of(root / "choose" / "kinds").values()]
    assert len(paths) == 15
    for path in paths:
        for item in read_folder_items(path):
            document = parse(read_regular(path.with_suffix(""), item.document), item.document)
            assert isinstance(document, Document)
            assert item.passage in document.text
