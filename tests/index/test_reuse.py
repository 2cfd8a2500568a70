"""New passages of equal content take over the vectors of old ones, to the last bit."""

import json

import numpy as np
import pytest
from helpers.corpora import MODEL, stage, vector_of

from spanwise.errors import IndexCorrupt
from spanwise.index.schema import FileState
from spanwise.types import Document, Passage


def check(store) -> None:
    """Every stored vector is that of the text of its passage, bit by bit."""
    with store.snapshot() as snapshot:
        stored = snapshot.stored_vectors(MODEL)
        vectors = stored.read(np.arange(len(stored)))["vectors"]
        for passage, vector in zip(snapshot.passages(stored.passage_ids.tolist()), vectors, strict=True):
            assert vector.tobytes() == vector_of(passage.text).tobytes()
    assert store.verify() == []


def lacking(store) -> list[str]:
    """The texts of the passages without a vector."""
    with store.snapshot() as snapshot:
        return [passage.text for passage in snapshot.passages(snapshot.without_vectors(MODEL).tolist())]


@pytest.fixture
def store(corpus_of):
    """Two documents, all passages with a vector."""
    store = corpus_of({}).store
    with store.writer() as writer:
        stage(writer, {"a": ["one", "two", "three"], "b": ["four"]}, vectors=True)
        writer.commit()
    return store


def test_an_edit_leaves_only_what_changed_to_be_encoded(store) -> None:
    with store.writer() as writer:
        stage(writer, {"a": ["zero", "one", "two", "3"]})
        writer.commit()
        assert writer.reused_vectors == 2
    assert lacking(store) == ["zero", "3"]
    check(store)


@pytest.mark.parametrize("order", ["put, remove", "remove, put", "put, commit, remove"])
def test_a_rename_needs_no_encoder(store, order) -> None:
    with store.writer() as writer:
        for step in order.split(", "):
            if step == "put":
                stage(writer, {"renamed": ["one", "two", "three"]})
            elif step == "remove":
                writer.remove("a")
            else:
                writer.commit()
        writer.commit()
        assert writer.reused_vectors == 3
    assert lacking(store) == []
    check(store)


def test_a_vector_that_is_damaged_is_not_taken_over(store) -> None:
    for manifest in (store.path / "segments").glob("*/manifest.json"):
        entries = json.loads(manifest.read_bytes())["columns"]
        if "vectors" in entries:
            whole = bytearray((manifest.parent / "columns.bin").read_bytes())
            whole[entries["vectors"]["offset"] + 8 * 4] ^= 1  # a number of the second vector, of "two"
            (manifest.parent / "columns.bin").write_bytes(whole)
    with store.writer() as writer, pytest.raises(IndexCorrupt, match=r"columns\.bin is damaged"):
        stage(writer, {"d": ["two"]})


def test_the_heading_is_part_of_the_content(store) -> None:
    passage = Passage(0, "c", 0, 3, "one", heading=("Top",))
    with store.writer() as writer:
        writer.put(Document("c", "t", "s", "", "one"), [passage], [[]], FileState(1, 1, "s"))
        writer.commit()
    assert lacking(store) == ["one"]
