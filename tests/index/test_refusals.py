from __future__ import annotations

import pytest

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


def test_a_refusal_is_replaced_and_forgotten(corpus) -> None:
    with corpus.store.writer() as writer:
        writer.refuse("b.png", BROKEN)
        writer.forget_refusal("z.pdf")
        writer.commit()
    assert refusals(corpus) == {"b.png": BROKEN}
    with corpus.store.writer() as writer, pytest.raises(ValueError, match=r"no refusal of 'z\.pdf'"):
        writer.forget_refusal("z.pdf")
