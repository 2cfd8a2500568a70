"""New passages of equal content take over the vectors of old ones, to the last bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.errors import IndexCorrupt
from spanwise.index import FileState, Store, indexed_text
from spanwise.index.schema import passage_row
from spanwise.types import Document, Passage

STATE = FileState(1, 1, "s")


def put(writer, name, texts, heading=()) -> list[int]:
    text = "".join(texts)
    starts = np.cumsum([0, *map(len, texts)]).tolist()
    passages = [
        Passage(0, name, at, at + len(part), part, heading=heading)
        for at, part in zip(starts, texts, strict=False)
    ]
    return writer.put(Document(name, "t", "s", "", text), passages, [[] for _ in texts], STATE)


def vector_of(text, model="m"):
    vector = np.random.default_rng(list(f"{model}{text}".encode())).standard_normal(6)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def encode(store, model="m") -> int:
    """Gives each passage that lacks one its vector; how many lacked one."""
    with store.writer() as writer, store.snapshot() as snapshot:
        passages = snapshot.passages(snapshot.without_vectors(model).tolist())
        if passages:
            rows = np.stack([vector_of(indexed_text(passage), model) for passage in passages])
            writer.put_vectors(model, [passage.id for passage in passages], rows)
        writer.commit()
    return len(passages)


def check(store, model="m") -> None:
    """Every vector is the one of its passage, bit by bit."""
    with store.snapshot() as snapshot:
        parts = [part for part in snapshot._segments if part.model == model]
        held = {
            number: vector
            for part in parts
            for number, vector in zip(
                part.columns["passage_ids"].tolist(), part.columns["vectors"], strict=True
            )
        }
        for passage in snapshot.all_passages():
            if passage.id in held:
                assert held[passage.id].tobytes() == vector_of(indexed_text(passage), model).tobytes()
    assert store.verify() == []


@pytest.fixture
def store(corpus_of):
    """Three documents, all passages with vectors of two models."""
    store = corpus_of({}).store
    with store.writer() as writer:
        put(writer, "a", ["one", "two", "three"])
        put(writer, "b", ["four"])
        put(writer, "c", ["one"], heading=("Top",))
        writer.commit()
    encode(store, "m")
    encode(store, "n")
    return store


def test_an_edit_leaves_only_what_changed_to_be_encoded(store) -> None:
    with store.writer() as writer:
        ids = put(writer, "a", ["zero", "one", "two", "3"])
        writer.commit()
        assert writer.reused_vectors == 2
    with store.snapshot() as snapshot:
        assert snapshot.without_vectors("m").tolist() == [ids[0], ids[3]]
        assert snapshot.without_vectors("n").tolist() == [ids[0], ids[3]]
    assert encode(store) == 2
    check(store)


@pytest.mark.parametrize("order", ["put, remove", "remove, put", "put, commit, remove"])
def test_a_rename_needs_no_encoder(store, order) -> None:
    with store.writer() as writer:
        for step in order.split(", "):
            if step == "put":
                put(writer, "renamed", ["one", "two", "three"])
            elif step == "remove":
                writer.remove("a")
            else:
                writer.commit()
        writer.commit()
        assert writer.reused_vectors == 3
    assert encode(store) == 0
    check(store)


def test_a_vector_that_is_damaged_is_not_taken_over(store) -> None:
    for manifest in (store.path / "segments").glob("*/manifest.json"):
        entries = json.loads(manifest.read_bytes())["columns"]
        if "vectors" in entries:
            whole = bytearray((manifest.parent / "columns.bin").read_bytes())
            whole[entries["vectors"]["offset"] + 6 * 4] ^= 1  # a number of the second vector, of "two"
            (manifest.parent / "columns.bin").write_bytes(whole)
    with store.writer() as writer, pytest.raises(IndexCorrupt, match=r"columns\.bin is damaged"):
        put(writer, "d", ["two"])


def test_the_content_is_the_text_that_is_encoded() -> None:
    passage = Passage(1, "a", 0, 3, "abc", heading=("A", "B"))
    assert indexed_text(passage) == "A\nB\nabc"
    whole = Passage(1, "a", 0, 7, "A\nB\nabc")
    assert passage_row(passage)["content"] == passage_row(whole)["content"]


TEXTS = st.lists(st.sampled_from(["p", "q", "r", "s", "long text"]), max_size=4)
CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.none() | TEXTS), max_size=6)


@settings(max_examples=30)
@given(st.lists(st.tuples(CHANGES, st.booleans()), max_size=5))
def test_any_history_leaves_every_passage_its_own_vector(tmp_path_factory, history) -> None:
    with Store.create(tmp_path_factory.mktemp("index") / "i", {}) as store:
        live = set()
        for changes, encoded in history:
            with store.writer() as writer:
                for name, texts in changes:
                    if texts is not None:
                        put(writer, name, texts)
                        live.add(name)
                    elif name in live:
                        writer.remove(name)
                        live.remove(name)
                writer.commit()
            if encoded:
                encode(store)
            check(store)
