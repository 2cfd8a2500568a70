"""`verify` finds rows that were changed by another program; damage to bytes is in tests/reliability."""

from __future__ import annotations

import sqlite3

import pytest
from damage import complaints
from made_corpora import stage

TEXTS = {f"d{number}": [f"word{number} shared text", f"another{number} shared"] for number in range(6)}


@pytest.fixture
def index(corpus_of):
    """A closed index with postings, vectors and tombstones."""
    corpus = corpus_of({})
    with corpus.store.writer() as writer:
        stage(writer, TEXTS, vectors=True)
        writer.commit()
    corpus.write({}, remove=["d3"])
    corpus.store.close()
    return corpus.store.path


def test_an_untouched_index_has_no_problems(index) -> None:
    assert complaints(index) == []


@pytest.mark.promise("T3")
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE documents SET text = replace(text, 'shared', 'shored')",
        "UPDATE documents SET title = 'other'",
        "UPDATE passages SET page = 3 WHERE id = 2",
        "UPDATE passages SET start = start + 1 WHERE id = 2",
        "DELETE FROM passages WHERE id = 2",
        "DELETE FROM documents WHERE id = 'd1'",
        "DELETE FROM segments WHERE kind = 'vectors'",
        "DELETE FROM tombstones",
        "DELETE FROM state",
        "UPDATE settings SET value = 'none'",
        "UPDATE state SET passages = 3",
        "DROP TABLE passages",
    ],
)
def test_rows_changed_behind_our_back_are_found(index, sql) -> None:
    catalog = sqlite3.connect(index / "catalog.sqlite")
    catalog.execute(sql)
    catalog.commit()
    catalog.close()
    assert complaints(index) != []
