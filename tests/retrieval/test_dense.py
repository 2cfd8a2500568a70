from __future__ import annotations

import numpy as np
import pytest

from spanwise.errors import IndexEmpty, ModelMismatch, VectorRejected
from spanwise.retrieval.dense import dense_retriever

ANIMALS = {
    "cat": [0.3, 0.9, 0.6],
    "dog": [0.5, 0.8, 0.5],
    "mouse": [0.1, 0.7, 0.8],
    "elephant": [0.95, 0.4, 0.2],
}
COSINES = {"cat": 1.0, "dog": 0.976221, "mouse": 0.951190, "elephant": 0.649063}


def unit(rows):
    matrix = np.array(rows, np.float64)
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


class Lookup:
    """An encoder that knows the vectors of a few words."""

    width = 3

    def __init__(self, digest="toy", vectors=ANIMALS) -> None:
        self.digest = digest
        self.vectors = vectors

    def encode_passages(self, texts):
        return unit([self.vectors[text] for text in texts])

    encode_questions = encode_passages


@pytest.fixture
def animals(corpus_of):
    return corpus_of({f"{name}.txt": [name] for name in ANIMALS})


def encode(corpus, digest="toy", only=None):
    with corpus.snapshot() as snapshot, corpus.store.writer() as writer:
        passages = [p for p in snapshot.all_passages() if only is None or p.text in only]
        vectors = Lookup().encode_passages([passage.text for passage in passages])
        writer.put_vectors(digest, [passage.id for passage in passages], vectors)
        writer.commit()


def found(corpus, question="cat", k=10, encoder=None):
    with corpus.snapshot() as snapshot:
        (hits,) = dense_retriever(snapshot, encoder or Lookup()).search([question], k)
    return {hit.passage.text: hit.score for hit in hits}


def test_l3_cosines_rank_the_animals(animals) -> None:
    encode(animals)
    assert found(animals) == pytest.approx(COSINES, abs=1e-6)
    assert list(found(animals)) == list(COSINES)


def test_passages_without_a_vector_are_not_found(animals) -> None:
    encode(animals, only={"dog", "mouse"})
    assert list(found(animals)) == ["dog", "mouse"]


def test_a_hit_names_its_stage(animals) -> None:
    encode(animals)
    with animals.snapshot() as snapshot:
        (hits,) = dense_retriever(snapshot, Lookup()).search(["dog"], 1)
    assert hits[0].scores == {"dense": hits[0].score}
    assert hits[0].rank == 1


def test_an_index_without_vectors_is_named(animals) -> None:
    with animals.snapshot() as snapshot, pytest.raises(IndexEmpty, match="spanwise index FOLDER"):
        dense_retriever(snapshot, Lookup())


def test_vectors_of_another_model_are_refused(animals) -> None:
    encode(animals, digest="older")
    with (
        animals.snapshot() as snapshot,
        pytest.raises(ModelMismatch, match="older, not by toy: run `spanwise index FOLDER --model NAME`"),
    ):
        dense_retriever(snapshot, Lookup())


def test_an_encoder_that_gives_nan_is_refused(animals) -> None:
    encode(animals)
    with pytest.raises(VectorRejected, match="question 0"):
        found(animals, "cat", encoder=Lookup(vectors={"cat": [np.nan, 0, 1]}))


@pytest.mark.parametrize(("questions", "k"), [([" "], 3), (["cat"], 0)])
def test_empty_questions_and_k_below_one_are_refused(animals, questions, k) -> None:
    encode(animals)
    with animals.snapshot() as snapshot, pytest.raises(ValueError, match=r"empty|at least 1"):
        dense_retriever(snapshot, Lookup()).search(questions, k)


def test_no_question_no_ranking(animals) -> None:
    encode(animals)
    with animals.snapshot() as snapshot:
        assert dense_retriever(snapshot, Lookup()).search([], 3) == []
