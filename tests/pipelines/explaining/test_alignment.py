"""The similarities between the tokens of a question and those of a passage."""

from __future__ import annotations

import pytest

from spanwise.errors import IndexEmpty
from spanwise.pipelines.explaining.alignment import alignment_record


@pytest.fixture
def mill(library, words):
    library.use_colbert("builtin", 8)
    library.sync_tokens()
    return library


def test_the_record_holds_a_row_a_token_of_the_question(mill):
    [passage, *_] = mill.passages()
    record = alignment_record(mill.alignment("who built the mill?", passage.id))
    assert [token["text"] for token in record["question"]] == ["", "who", "built", "the", "mill"]
    assert {len(row) for row in record["similarities"]} == {len(record["tokens"])}
    assert record["score"] == pytest.approx(sum(map(max, record["similarities"])), abs=1e-3)


def test_places_of_tokens_are_those_of_the_document(mill):
    [passage, *_] = mill.passages()
    text = mill.document(passage.document_id).text
    placed = [token for token in mill.alignment("mill", passage.id).tokens if token.start >= 0]
    assert placed
    assert all(text[token.start : token.end] == token.text for token in placed)


def test_an_index_without_token_vectors_says_how_to_make_them(library):
    with pytest.raises(IndexEmpty, match="--colbert builtin"):
        library.alignment("mill", library.passages()[0].id)


def test_a_passage_without_token_vectors_yet_is_told(mill, folder):
    (folder / "new.txt").write_text("An owl lives in the mill.")
    mill.sync(vectors=False)
    [new] = [passage for passage in mill.passages() if passage.document_id == "new.txt"]
    with pytest.raises(IndexEmpty, match="has no token vectors yet"):
        mill.alignment("owl", new.id)


def test_a_passage_that_is_not_there_is_refused(mill):
    with pytest.raises(ValueError, match="99999"):
        mill.alignment("mill", 99999)
