import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
from helpers.corpora import stage

from spanwise.errors import IndexCorrupt, IndexLocked, IndexNotFound
from spanwise.index.schema import Description, FileState
from spanwise.index.store import Store
from spanwise.types import Document, Heading, Label, Passage

STATE = FileState(10, 20, "s")


def document(text, name="a.txt", **more):
    return Document(name, "text/plain", "s", "A title", text, **more)


def whole(text, name="a.txt", **more):
    return [Passage(0, name, 0, len(text), text, **more)]


def test_documents_and_passages_come_back_as_they_went_in(corpus_of) -> None:
    text = "caf\u00e9 \U0001f642\x00\r\n\u2028 e\u0301 end"
    headings = (Heading(0, 1, "One"), Heading(7, 2, "T\u00f4o"))
    labels = (Label(0, "slide 1"), Label(5, "Sh\u00e9et1!B7"))
    original = document(text, page_starts=(0, 7), headings=headings, labels=labels, metadata={"k": "v"})
    passage = Passage(
        0, "a.txt", 5, 12, text[5:12], page=1, line=2, heading=("One", "T\u00f4o"), label="Sh\u00e9et1!B7"
    )
    store = corpus_of({}).store
    with store.writer() as writer:
        (number,) = writer.put(original, [passage], [["x"]], STATE)
        writer.commit()
    with store.snapshot() as snapshot:
        assert snapshot.document("a.txt") == original
        assert snapshot.passages([number]) == [replace(passage, id=number)]
        assert snapshot.descriptions() == [Description("a.txt", "text/plain", "A title", 20, {"k": "v"})]
        assert snapshot.files() == {"a.txt": STATE}
    assert store.verify() == []


def test_a_snapshot_stays_whole_while_writers_go_on(corpus_of) -> None:
    corpus = corpus_of({"a": ["first words"]})
    with corpus.snapshot() as before:
        for number in range(12):  # enough to merge segments away
            corpus.write({"a": [f"words {number}"]})
        assert before.generation == 1
        assert [p.text for p in before.passages(before.passage_ids())] == ["first words"]
        assert before.postings().all_statistics.df == {"first": 1, "words": 1}
    with corpus.snapshot() as after:
        assert [p.text for p in after.passages(after.passage_ids())] == ["words 11"]


def test_an_unknown_document_or_passage_is_named(corpus_of) -> None:
    corpus = corpus_of({"a": ["one"]})
    with corpus.snapshot() as snapshot:
        with pytest.raises(ValueError, match="no document 'b'"):
            snapshot.document("b")
        with pytest.raises(ValueError, match="no passage 7"):
            snapshot.passages([1, 7])
    with corpus.store.writer() as writer, pytest.raises(ValueError, match="no document 'b'"):
        writer.remove("b")


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_no_index_is_named_with_the_command(tmp_path, path) -> None:
    with pytest.raises(IndexNotFound, match="spanwise index FOLDER"):
        Store.open(tmp_path / path)


@pytest.mark.parametrize("content", [b"", b"not a database " * 100])
def test_another_file_in_place_of_the_catalog_is_refused(tmp_path, content) -> None:
    (tmp_path / "catalog.sqlite").write_bytes(content)
    with pytest.raises(IndexCorrupt, match=r"catalog\.sqlite"):
        Store.open(tmp_path)


def test_a_writer_that_failed_half_way_commits_nothing_more(corpus_of, monkeypatch) -> None:
    corpus = corpus_of({"a": ["one"]})
    with corpus.store.writer() as writer:
        writer.remove("a")
        monkeypatch.setattr(writer._postings, "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            writer.put(document("x"), whole("x"), [["x"]], STATE)
        with pytest.raises(Exception, match="failed before"):
            writer.commit()
    with corpus.snapshot() as snapshot:
        assert list(snapshot.files()) == ["a"]


def test_vectors_resume_where_they_stopped(corpus_of) -> None:
    corpus = corpus_of({"a": ["one", "two", "three"]})
    vector = np.array([[1, 0]], np.float32)
    with corpus.store.writer() as writer:
        assert writer.put_vectors("m", [2], vector) == 1
        assert writer.put_vectors("m", [2, 3], np.repeat(vector, 2, 0)) == 1
        writer.commit()
        assert writer.put_vectors("m", [3], vector) == 0
    corpus.write({}, remove=["a"])
    corpus.write({"a": ["one", "new"]})
    with corpus.snapshot() as snapshot:
        assert snapshot.vector_models() == {}
        assert snapshot.without_vectors("m").tolist() == [4, 5]
    with corpus.store.writer() as writer:
        assert writer.put_vectors("m", [2, 5], np.repeat(vector, 2, 0)) == 1
        with pytest.raises(ValueError, match="no passage 6"):
            writer.put_vectors("m", [6], vector)
        writer.commit()
    with corpus.snapshot() as snapshot:
        assert snapshot.vector_models() == {"m": 1}
        assert snapshot.without_vectors("m").tolist() == [4]
    assert corpus.store.verify() == []


def test_words_are_visible_before_segments_are_merged(corpus_of, monkeypatch) -> None:
    corpus = corpus_of({"a": ["one"]})
    seen = []

    def merge_segments(folder, catalog):
        with corpus.snapshot() as snapshot:
            seen.append((snapshot.generation, list(snapshot.files())))
        raise KeyboardInterrupt

    monkeypatch.setattr("spanwise.index.writer.merge_segments", merge_segments)
    with pytest.raises(KeyboardInterrupt):
        corpus.write({"b": ["two"]})
    assert seen == [(2, ["a", "b"])]
    assert corpus.store.verify() == []


def commit(store, name, text) -> None:
    with store.writer() as writer:
        stage(writer, {name: [text]})
        writer.commit()


@pytest.fixture
def store(corpus_of):
    return corpus_of({"a": ["some words"]}).store


def test_the_last_commit_is_that_of_an_index_put_in_its_place(store, tmp_path):
    first = store.commit_digest()
    shutil.rmtree(store.path)
    with Store.create(store.path, {"color": "blue"}) as other:
        commit(other, "a", "some words")
    assert store.commit_digest() != first
    assert store.settings == {"color": "blue"}


def test_a_resting_snapshot_wakes_until_something_is_committed(store):
    with store.snapshot() as snapshot:
        before = snapshot.passages(snapshot.passage_ids())
        snapshot.end_transaction()
        assert snapshot.reopen()
        assert snapshot.passages(snapshot.passage_ids()) == before
        snapshot.end_transaction()
        commit(store, "b", "more words")
        assert not snapshot.reopen()


def test_a_second_writer_waits_where_somebody_is_told_for_whom(store, monkeypatch):
    waited = []
    monkeypatch.setattr("spanwise.index.store._WAIT_S", 0.05)
    with Store.open(store.path) as other:
        other.on_wait = waited.append
        with store.writer(), pytest.raises(IndexLocked):
            other.writer().__enter__()
        with other.writer():
            assert waited == [str(os.getpid())]
