"""No bad vector passes, on the way in or as a question, and a refusal changes no byte of the index."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from spanwise.errors import VectorRejected
from spanwise.index.gate import check_vectors, faulty_rows

pytestmark = pytest.mark.promise("T15")

GOOD = np.eye(3, 4, dtype=np.float32)


def with_row(*row):
    matrix = GOOD.copy()
    matrix[1] = row
    return matrix


BAD = {
    "nan": with_row(np.nan, 0, 0, 1),
    "infinite": with_row(np.inf, 0, 0, 0),
    "minus infinite": with_row(-np.inf, 0, 0, 0),
    "zero": with_row(0, 0, 0, 0),
    "huge": with_row(1e30, 0, 0, 0),
    "denormal": with_row(1e-40, 0, 0, 0),
    "too long": with_row(1.0011, 0, 0, 0),
    "float16 overflow": with_row(*np.array([70000, 0, 0, 0], np.float32)),
    "float64": GOOD.astype(np.float64),
    "float16": GOOD.astype(np.float16),
    "narrow": np.ascontiguousarray(GOOD[:, :3]),
    "flat": GOOD[0],
    "too few": GOOD[:2],
    "a list": GOOD.tolist(),
}


def digest_of(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "-" not in path.name)
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


@pytest.fixture
def encoded(corpus_of):
    corpus = corpus_of({"a": ["one", "two", "three"], "b": ["four"]})
    with corpus.store.writer() as writer:
        writer.put_vectors("m", [4], GOOD[:1])
        writer.commit()
    return corpus


@pytest.mark.parametrize("kind", BAD)
def test_bad_vectors_are_refused_and_nothing_changes(encoded, kind) -> None:
    before = digest_of(encoded.store.path)
    with encoded.store.writer() as writer:
        with pytest.raises(VectorRejected):
            writer.put_vectors("m", [1, 2, 3], BAD[kind])
        assert writer.commit() == 2
    assert digest_of(encoded.store.path) == before


@pytest.mark.parametrize("kind", [kind for kind in BAD if kind not in ("too few",)])
def test_bad_questions_are_refused(encoded, kind) -> None:
    with encoded.snapshot() as snapshot, pytest.raises(VectorRejected):
        snapshot.vectors("m").search(BAD[kind], 2)


def test_a_refusal_names_the_passage_and_the_fault(encoded) -> None:
    with (
        encoded.store.writer() as writer,
        pytest.raises(VectorRejected, match=r"passage 2 \(row 1\) holds NaN or infinity; nothing was stored"),
    ):
        writer.put_vectors("m", [1, 2, 3], BAD["nan"])


def test_one_bad_row_among_many_can_be_found_and_left_out(encoded) -> None:
    assert faulty_rows(BAD["nan"]) == {1: "holds NaN or infinity"}
    assert faulty_rows(BAD["zero"]) == {1: "is zero"}
    assert faulty_rows(GOOD) == {}


def test_a_view_that_is_not_contiguous_is_stored_as_it_reads(encoded) -> None:
    wide = np.asfortranarray(GOOD)
    with encoded.store.writer() as writer:
        assert writer.put_vectors("m", [1, 2, 3], wide[::-1]) == 3
        writer.commit()
    with encoded.snapshot() as snapshot:
        (ranking,) = snapshot.vectors("m").search(GOOD[2:3], 1)
    assert ranking.passage_ids.tolist() == [1]


def test_an_empty_batch_is_fine(encoded) -> None:
    with encoded.store.writer() as writer:
        assert writer.put_vectors("m", [], np.empty((0, 4), np.float32)) == 0
        assert writer.commit() == 2
    check_vectors(np.empty((0, 4), np.float32), 4, [])
