"""A store tells the last commit cheaply, and a snapshot may rest between two uses."""

from __future__ import annotations

import shutil
import threading

import pytest
from golden.make import put

from spanwise.index import Store


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "index", {"colour": "red"}) as opened:
        commit(opened, "a", "some words")
        yield opened


def commit(store, name, text) -> None:
    with store.writer() as writer:
        put(writer, name, [text])
        writer.commit()


def log_of(store):
    return store.path / "catalog.sqlite-wal"


def shrink(store) -> int:
    """The bytes of SQLite's log after all of it that may go has gone."""
    with Store.open(store.path) as other:
        other._catalog.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        return log_of(store).stat().st_size


def test_the_last_commit_changes_with_each_commit_only(store):
    first = store.last_commit()
    assert store.last_commit() == first
    with Store.open(store.path) as other:
        commit(other, "b", "more words")
        assert store.last_commit() == other.last_commit() != first


def test_the_last_commit_is_that_of_an_index_put_in_its_place(store, tmp_path):
    first = store.last_commit()
    shutil.rmtree(store.path)
    with Store.create(store.path, {"colour": "blue"}) as other:
        commit(other, "a", "some words")
    assert store.last_commit() != first
    assert store.settings == {"colour": "blue"}


def test_passages_are_those_of_the_commit_asked_for_or_none(store):
    first = store.last_commit()
    with store.snapshot() as snapshot:
        [number] = snapshot.passage_ids().tolist()
    assert [passage.text for passage in store.passages_of(first, [number]) or []] == ["some words"]
    assert store.passages_of(first, [number, 99]) is None
    commit(store, "b", "more words")
    assert store.passages_of(first, [number]) is None


def test_a_resting_snapshot_wakes_until_something_is_committed(store):
    with store.snapshot() as snapshot:
        before = list(snapshot.all_passages())
        snapshot.rest()
        assert snapshot.wake()
        assert list(snapshot.all_passages()) == before
        snapshot.rest()
        commit(store, "b", "more words")
        assert not snapshot.wake()


def test_the_log_shrinks_while_a_snapshot_rests(store):
    with store.snapshot() as snapshot:
        commit(store, "b", "more words")
        assert shrink(store) > 0
        snapshot.rest()
        assert shrink(store) == 0


def test_threads_may_ask_while_another_writes(store):
    seen: list[str] = []

    def ask() -> None:
        for _ in range(100):
            found = store.last_commit()
            assert store.passages_of(found, []) in ([], None)
            seen.append(found.seal)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(5):
        commit(store, f"n{number}", "words")
    for thread in threads:
        thread.join()
    assert len(seen) == 400
