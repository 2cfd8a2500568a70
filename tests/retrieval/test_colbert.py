from __future__ import annotations

import numpy as np
import pytest
from made_corpora import PLAIN
from word_encoder import WordEncoder

from spanwise.errors import IndexEmpty, ModelMismatch, VectorRejected
from spanwise.index.maxsim.codebook import Codebook
from spanwise.retrieval import Encoders, build_retriever
from spanwise.retrieval.colbert import colbert_retriever

MILL = {
    "mill.txt": ["the mill was founded in 1790", "an owl lives there"],
    "inn.txt": ["the inn by the mill"],
}


def encode(corpus, digest="words", only=None):
    """Token vectors of the passages, stored as a sync does."""
    with corpus.snapshot() as snapshot, corpus.store.writer() as writer:
        passages = [p for p in snapshot.all_passages() if only is None or p.text in only]
        vectors, lengths = WordEncoder().encode_passages([passage.text for passage in passages])
        writer.put_codebook(digest, Codebook.train(vectors, len(vectors)))
        writer.put_tokens(digest, [passage.id for passage in passages], vectors, lengths)
        writer.commit()


@pytest.fixture
def mill(corpus_of):
    corpus = corpus_of(MILL)
    encode(corpus)
    return corpus


def found(corpus, question, k=10, encoder=None):
    with corpus.snapshot() as snapshot:
        (hits,) = colbert_retriever(snapshot, encoder or WordEncoder()).search([question], k)
    return hits


def never():
    raise AssertionError("nobody asked for this encoder")


def test_a_passage_with_all_words_scores_one_for_each(mill) -> None:
    first, *_ = found(mill, "founded 1790 mill")
    assert first.passage.text == "the mill was founded in 1790"
    marker = first.score - 3
    assert -1 < marker < 1
    assert first.scores == {"colbert": first.score}


def test_every_passage_with_tokens_is_found_and_no_other(corpus_of) -> None:
    corpus = corpus_of(MILL)
    encode(corpus, only={"an owl lives there", "the inn by the mill"})
    assert {hit.passage.text for hit in found(corpus, "mill")} == {
        "an owl lives there",
        "the inn by the mill",
    }


def test_an_index_without_token_vectors_is_named(corpus_of) -> None:
    with (
        corpus_of(MILL).snapshot() as snapshot,
        pytest.raises(IndexEmpty, match="spanwise index FOLDER --colbert builtin"),
    ):
        colbert_retriever(snapshot, WordEncoder())


def test_token_vectors_of_another_model_are_refused(mill) -> None:
    with (
        mill.snapshot() as snapshot,
        pytest.raises(ModelMismatch, match="words, not by newer: run `spanwise index FOLDER --colbert NAME`"),
    ):
        colbert_retriever(snapshot, WordEncoder("newer"))


def test_an_encoder_that_gives_nan_is_refused(mill) -> None:
    encoder = WordEncoder()
    encoder.encode_questions = lambda texts: [np.full((2, 16), np.nan, np.float32)]
    with pytest.raises(VectorRejected):
        found(mill, "mill", encoder=encoder)


@pytest.mark.parametrize(("questions", "k"), [([" "], 3), (["cat"], 0)])
def test_empty_questions_and_k_below_one_are_refused(mill, questions, k) -> None:
    with mill.snapshot() as snapshot, pytest.raises(ValueError, match=r"empty|at least 1"):
        colbert_retriever(snapshot, WordEncoder()).search(questions, k)


def test_no_question_no_ranking(mill) -> None:
    with mill.snapshot() as snapshot:
        assert colbert_retriever(snapshot, WordEncoder()).search([], 3) == []


def test_fusions_are_spelled_with_a_plus(mill) -> None:
    with mill.snapshot() as snapshot:
        retriever = build_retriever("bm25+colbert", snapshot, PLAIN, Encoders(never, WordEncoder))
        (hits,) = retriever.search(["owl"], 5)
    assert retriever.name == "bm25+colbert"
    assert set(hits[0].scores) == {"bm25", "colbert", "bm25+colbert"}
    assert hits[0].passage.text == "an owl lives there"
    assert len(hits) == 3


def test_a_search_is_confined_to_what_is_allowed(mill) -> None:
    with mill.snapshot() as snapshot:
        among = snapshot.passage_ids_of(["inn.txt"])
        (hits,) = colbert_retriever(snapshot, WordEncoder()).search(["owl"], 5, among)
    assert [hit.passage.document_id for hit in hits] == ["inn.txt"]
