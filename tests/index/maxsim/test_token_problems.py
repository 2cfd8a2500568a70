"""`verify` finds tokens that cannot be decoded, although every digest is right."""

from __future__ import annotations

import pytest
from made_corpora import stage
from made_token_vectors import TOKEN_MODEL, codebook

from spanwise.errors import IndexCorrupt
from spanwise.index.catalog_writer import CatalogWriter
from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.segment import open_segment
from spanwise.index.segment_writer import write_segment
from spanwise.index.state import SegmentEntry


@pytest.fixture
def store(corpus_of):
    corpus = corpus_of({})
    with corpus.store.writer() as writer:
        stage(writer, {"a": ["w1 w2", "w3"], "b": ["w4"]}, vectors=True)
        writer.commit()
    return corpus.store


def replace(store, kind, *others):
    """Name other segments of a kind instead of the one that there is, with a seal that is right."""
    catalog = CatalogWriter.open(store.path / "catalog.sqlite")
    (old,) = [entry for entry in catalog.segments() if entry.kind == kind]
    catalog.drop_segments([old.id])
    for columns in others:
        name = write_segment(store.path / "segments", kind, TOKEN_MODEL, columns)
        catalog.add_segment(SegmentEntry(name, kind, TOKEN_MODEL, old.rows))
    catalog.commit()
    catalog.close()


def columns_of(store, kind):
    with store.snapshot() as snapshot:
        (path,) = [part.path for part in snapshot._segments if part.kind == kind]
    return {name: column.copy() for name, column in open_segment(path).columns.items()}


def complaint(store) -> str:
    (line,) = store.verify()
    return line


def test_whole_tokens_have_no_problems(store) -> None:
    assert store.verify() == []


def test_tokens_need_a_codebook(store) -> None:
    replace(store, "codebook")
    assert "model t has 0 codebooks instead of one" in complaint(store)
    with store.snapshot() as snapshot, pytest.raises(IndexCorrupt, match="lacks the codebook of model t"):
        snapshot.maxsim(TOKEN_MODEL)


def test_there_is_one_codebook(store) -> None:
    replace(store, "codebook", codebook().columns(), codebook(2).columns())
    assert "model t has 2 codebooks instead of one" in complaint(store)
    with store.snapshot() as snapshot, pytest.raises(IndexCorrupt, match="two codebooks of model t"):
        snapshot.maxsim(TOKEN_MODEL)


def test_a_codebook_that_makes_no_sense_is_named(store) -> None:
    columns = columns_of(store, "codebook")
    columns["numbers"][1] = 3
    replace(store, "codebook", columns)
    assert "codes of 3 bits" in complaint(store)
    with store.snapshot() as snapshot, pytest.raises(IndexCorrupt, match="codes of 3 bits"):
        snapshot.codebook(TOKEN_MODEL)


def test_a_codebook_with_too_few_centroids_is_named(store) -> None:
    known = codebook()
    few = Codebook(4, known.centroids[:1], known.levels, known.distance, 12)
    replace(store, "codebook", few.columns())
    assert "the codebook has 1" in complaint(store)


@pytest.mark.parametrize("name", ["centroids", "values", "scales", "sums"])
def test_tokens_that_do_not_match_their_sums_are_named(store, name) -> None:
    columns = columns_of(store, "tokens")
    columns[name].view("u1").reshape(-1)[0] ^= 1
    replace(store, "tokens", columns)
    assert "the tokens of a passage do not match their sum" in complaint(store)


def test_ends_that_do_not_ascend_are_named(store) -> None:
    columns = columns_of(store, "tokens")
    columns["ends"][0] = columns["ends"][1]
    replace(store, "tokens", columns)
    assert "its ends are not places among its tokens" in complaint(store)


def test_tokens_of_unknown_passages_are_named(store) -> None:
    columns = columns_of(store, "tokens")
    columns["passage_ids"] += 1
    replace(store, "tokens", columns)
    assert "the tokens t are not those of the live passages" in complaint(store)
