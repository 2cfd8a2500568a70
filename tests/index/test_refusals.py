from __future__ import annotations

import sqlite3

import pytest

from spanwise.errors import IndexCorrupt
from spanwise.index import Refusal

BROKEN = Refusal(10, 20, "rejected", "it is broken: caf\u00e9", "2")
PICTURE = Refusal(0, -1, "skipped", "no text")


@pytest.fixture
def corpus(corpus_of):
    corpus = corpus_of({"a": ["one"]})
    with corpus.store.writer() as writer:
        writer.refuse("z.pdf", BROKEN)
        writer.refuse("b.png", PICTURE)
        writer.commit()
    return corpus


def refusals(corpus):
    with corpus.snapshot() as snapshot:
        return snapshot.refusals()


def test_refusals_come_back_in_the_order_of_their_ids(corpus) -> None:
    assert list(refusals(corpus).items()) == [("b.png", PICTURE), ("z.pdf", BROKEN)]
    assert corpus.store.verify() == []


def test_a_refusal_is_replaced_and_forgotten(corpus) -> None:
    with corpus.store.writer() as writer:
        writer.refuse("b.png", BROKEN)
        writer.forget_refusal("z.pdf")
        writer.commit()
    assert refusals(corpus) == {"b.png": BROKEN}
    with corpus.store.writer() as writer, pytest.raises(ValueError, match=r"no refusal of 'z\.pdf'"):
        writer.forget_refusal("z.pdf")


@pytest.mark.parametrize("sql", ["UPDATE refusals SET size = 11", "UPDATE refusals SET reason = 'other'"])
def test_a_changed_refusal_is_found(corpus, sql) -> None:
    catalog = sqlite3.connect(corpus.store.path / "catalog.sqlite")
    catalog.execute(sql)
    catalog.commit()
    catalog.close()
    with pytest.raises(IndexCorrupt, match=r"refusal of 'b\.png'"):
        refusals(corpus)
    assert corpus.store.verify() != []
