"""Every retriever by name, and one of the user's own, held to the same contract."""

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from helpers.corpora import MODEL, PLAIN, stage, vector_of
from helpers.rankings import WORDS
from helpers.word_encoders import WordEncoder
from hypothesis import assume, given, settings, strategies as st

from spanwise.errors import ContractBroken, IndexEmpty, ModelMismatch, VectorRejected
from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.store import Store
from spanwise.retrieval import Encoders, build, stages_of
from spanwise.retrieval.retrievers import colbert_retriever, dense_retriever
from spanwise.types import Hit, Passage

MILL = {
    "mill.txt": ["the mill was founded in 1790", "an owl lives there"],
    "inn.txt": ["the inn by the mill"],
}
ANIMALS = {
    "cat": [0.3, 0.9, 0.6],
    "dog": [0.5, 0.8, 0.5],
    "mouse": [0.1, 0.7, 0.8],
    "elephant": [0.95, 0.4, 0.2],
}
COSINES = {"cat": 1.0, "dog": 0.976221, "mouse": 0.951190, "elephant": 0.649063}


class Lookup:
    """An encoder that knows the vectors of a few words."""

    digest = "toy"
    width = 3

    def __init__(self, vectors=ANIMALS) -> None:
        self.vectors = vectors

    def encode_passages(self, texts):
        rows = np.array([self.vectors[text] for text in texts], np.float64)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    encode_questions = encode_passages


class ByText:
    digest = MODEL
    width = 8

    def encode_questions(self, texts):
        return np.stack([vector_of(text) for text in texts])


def never():
    raise AssertionError("no stage needs this encoder")


NEVER = Encoders(never, never)
ENCODERS = Encoders(ByText, never)


@pytest.fixture
def animals(corpus_of):
    corpus = corpus_of({f"{name}.txt": [name] for name in ANIMALS})
    with corpus.snapshot() as snapshot, corpus.store.writer() as writer:
        passages = [p for p in snapshot.passages(snapshot.passage_ids()) if p.text != "mouse"]
        writer.put_vectors(
            "toy", [p.id for p in passages], Lookup().encode_passages([p.text for p in passages])
        )
        writer.commit()
    return corpus


@pytest.fixture
def mill(corpus_of):
    corpus = corpus_of(MILL)
    with corpus.snapshot() as snapshot, corpus.store.writer() as writer:
        passages = [p for p in snapshot.passages(snapshot.passage_ids()) if p.document_id == "mill.txt"]
        vectors, lengths = WordEncoder().encode_passages([passage.text for passage in passages])
        writer.put_codebook("words", Codebook.train(vectors, len(vectors), 8))
        writer.put_tokens("words", [passage.id for passage in passages], vectors, lengths)
        writer.commit()
    return corpus


def test_dense_ranks_by_cosines_the_passages_that_have_a_vector(animals) -> None:
    with animals.snapshot() as snapshot:
        (hits,) = dense_retriever(snapshot, Lookup()).search(["cat"], 10)
    expected = {name: score for name, score in COSINES.items() if name != "mouse"}
    assert {hit.passage.text: hit.score for hit in hits} == pytest.approx(expected, abs=1e-6)
    assert [hit.passage.text for hit in hits] == list(expected)
    assert all(hit.scores == {"dense": hit.score} for hit in hits)


def test_colbert_scores_one_for_each_word_found_in_the_passages_with_tokens(mill) -> None:
    with mill.snapshot() as snapshot:
        (hits,) = colbert_retriever(snapshot, WordEncoder()).search(["founded 1790 mill"], 10)
    assert [hit.passage.text for hit in hits] == MILL["mill.txt"]
    assert -1 < hits[0].score - 3 < 1  # 3 words and a marker


def test_missing_vectors_and_those_of_other_models_are_named(corpus_of, animals, mill) -> None:
    with corpus_of({}).snapshot() as snapshot, pytest.raises(IndexEmpty, match="no passages"):
        build("bm25", snapshot, PLAIN, NEVER)
    with corpus_of(MILL).snapshot() as snapshot:
        with pytest.raises(IndexEmpty, match="spanwise index FOLDER`"):
            dense_retriever(snapshot, Lookup())
        with pytest.raises(IndexEmpty, match="spanwise index FOLDER --colbert builtin"):
            colbert_retriever(snapshot, WordEncoder())
    with animals.snapshot() as snapshot, pytest.raises(ModelMismatch, match=r"by toy, not by .*--model NAME"):
        dense_retriever(snapshot, ByText())
    with mill.snapshot() as snapshot, pytest.raises(ModelMismatch, match=r"words, not by .*--colbert NAME"):
        colbert_retriever(snapshot, WordEncoder("newer"))


def test_a_question_vector_of_nan_is_rejected(animals, mill) -> None:
    with animals.snapshot() as snapshot, pytest.raises(VectorRejected, match="question 0"):
        dense_retriever(snapshot, Lookup({"cat": [np.nan, 0, 1]})).search(["cat"], 3)
    encoder = WordEncoder()
    encoder.encode_questions = lambda texts: [np.full((2, 16), np.nan, np.float32)]
    with mill.snapshot() as snapshot, pytest.raises(VectorRejected):
        colbert_retriever(snapshot, encoder).search(["mill"], 3)


@pytest.mark.parametrize("name", ["tfidf", "bm25", "rank_bm25", "tfidf+bm25"])
def test_lexical_names_need_no_encoder(corpus_of, name) -> None:
    with corpus_of(MILL).snapshot() as snapshot:
        retriever = build(name, snapshot, PLAIN, NEVER)
        (hits,) = retriever.search(["founded 1790 by"], 10**6)
    assert retriever.name == name
    assert len(hits) == 2
    assert hits[0].passage.text == "the mill was founded in 1790"


def test_fusions_are_spelled_with_a_plus(mill) -> None:
    with mill.snapshot() as snapshot:
        retriever = build("bm25+colbert", snapshot, PLAIN, Encoders(never, WordEncoder))
        (hits,) = retriever.search(["owl"], 5)
    assert retriever.name == "bm25+colbert"
    assert set(hits[0].scores) == {"bm25", "colbert", "bm25+colbert"}
    assert hits[0].passage.text == "an owl lives there"


@pytest.mark.parametrize("name", ["", "bm26", "bm25+", "bm25+bm25", "hybrid+tfidf", "BM25"])
def test_unknown_names_list_the_known_ones(name) -> None:
    with pytest.raises(ValueError, match="tfidf, bm25, rank_bm25, dense, hybrid"):
        stages_of(name)


@pytest.mark.parametrize("name", ["tfidf", "bm25", "rank_bm25", "bm25+tfidf"])
@pytest.mark.parametrize(("question", "k"), [("mill", 0), ("", 3), (" \n", 3)])
def test_empty_questions_and_k_below_one_are_refused(corpus_of, name, question, k) -> None:
    with corpus_of(MILL).snapshot() as snapshot, pytest.raises(ValueError, match=r"empty|at least 1"):
        build(name, snapshot, PLAIN, NEVER).search([question], k)


@pytest.mark.parametrize(
    "question", ["?", "AND OR NOT *", '"mill', "mill* NEAR(owl)", "\x00", "a" * 5000, "\ud800"]
)
def test_any_other_question_is_searched(corpus_of, question) -> None:
    with corpus_of(MILL).snapshot() as snapshot:
        build("bm25+tfidf", snapshot, PLAIN, NEVER).search([question], 5)


# A search confined to some passages equals the complete ranking without the others.

SINGLE = ["bm25", "tfidf", "rank_bm25", "dense"]
QUESTIONS = ["w0", "w1 w2", "w3 w3 w0 w11"]
texts = st.lists(st.lists(st.sampled_from(WORDS[:5]), min_size=1, max_size=4).map(" ".join), max_size=4)
collections = st.dictionaries(st.sampled_from("abcdefgh"), texts, min_size=1)


def made(folder, segments):
    """A store with one segment a collection, in which later ones replace documents of earlier ones."""
    store = Store.create(Path(folder) / "index", {})
    for collection in segments:
        with store.writer() as writer:
            stage(writer, collection, vectors=True)
            writer.commit()
    return store


@settings(max_examples=10)
@given(st.lists(collections, min_size=1, max_size=3), st.data())
def test_a_confined_search_equals_the_complete_ranking_filtered(segments, data) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        made(folder, segments) as store,
        store.snapshot() as snapshot,
    ):
        ids = np.sort(snapshot.passage_ids())
        assume(len(ids))
        among = np.array(sorted(data.draw(st.sets(st.sampled_from(ids.tolist())))), np.int64)
        for name in SINGLE:
            retriever = build(name, snapshot, PLAIN, ENCODERS)
            complete = retriever.search(QUESTIONS, len(ids))
            for k in (1, 2, len(ids)):
                for whole, part in zip(complete, retriever.search(QUESTIONS, k, among), strict=True):
                    allowed = [(hit.passage.id, hit.score) for hit in whole if hit.passage.id in among]
                    assert [(hit.passage.id, hit.score) for hit in part] == allowed[:k], name
                    assert [hit.rank for hit in part] == list(range(1, len(part) + 1))


@pytest.fixture
def snapshot(tmp_path):
    """Two segments of twenty; for "w10" the second, of documents "z…", ranks behind the first."""
    first = {f"a{n:02}": ["w10 w10 w10"] for n in range(20)} | {"b": ["w11"]}
    second = {f"z{n:02}": [f"w0 w{n % 9 + 1} w10"] for n in range(20)}
    with made(tmp_path, [first, second]) as store, store.snapshot() as snapshot:
        yield snapshot


def ids_of(snapshot, kind):
    ids = np.sort(snapshot.passage_ids())
    return ids[[place[0].startswith(kind) for place in snapshot.places(ids.tolist())]]


# A retriever of the user's own.


class Own:
    """Searches with a function of (passages, questions, k, among)."""

    name = "mine"

    def __init__(self, snapshot, search) -> None:
        self.passages = snapshot.passages(snapshot.passage_ids())
        self.function = search

    def search(self, questions, k, among=None):
        return self.function(self.passages, questions, k, among)


def longest(passages, questions, k, among):
    allowed = [passage for passage in passages if among is None or passage.id in among]
    allowed.sort(key=lambda passage: len(passage.text))  # worst first: the scores decide
    return [[Hit(passage, len(passage.text), 1) for passage in allowed[-k:]] for _ in questions]


def own(snapshot, search=longest):
    return build(Own(snapshot, search), snapshot, PLAIN, NEVER)


def test_hits_of_an_own_retriever_are_ranked_by_score_then_place(snapshot) -> None:
    [hits] = own(snapshot).search(["anything"], 3)
    assert [(hit.rank, hit.passage.document_id) for hit in hits] == [(1, "a17"), (2, "a18"), (3, "a19")]
    assert hits[0].scores == {"mine": 11.0}
    [hits] = own(snapshot).search(["x"], 3, ids_of(snapshot, "z"))
    assert {hit.passage.document_id[0] for hit in hits} == {"z"}


def test_text_and_place_come_from_the_index(snapshot) -> None:
    def forged(passages, questions, k, among):
        return [[Hit(Passage(passages[0].id, "forged.txt", 0, 5, "wrong"), 1.0, 1)]]

    [[hit]] = own(snapshot, forged).search(["x"], 3)
    assert hit.passage.document_id == "a00"
    assert hit.passage.text == "w10 w10 w10"


BROKEN = {
    "no such passage": lambda p, q, k, a: [[Hit(Passage(999, "a", 0, 1, "T"), 1.0, 1)]],
    "twice": lambda p, q, k, a: [[Hit(p[0], 1.0, 1), Hit(p[0], 0.5, 2)]],
    "not a number": lambda p, q, k, a: [[Hit(p[0], math.nan, 1)]],
    "a text for a score": lambda p, q, k, a: [[Hit(p[0], "1", 1)]],
    "too many": lambda p, q, k, a: [[Hit(passage, 1.0, 1) for passage in p]],
    "too few lists": lambda p, q, k, a: [],
    "ids alone": lambda p, q, k, a: [[p[0].id]],
    "nothing": lambda p, q, k, a: None,
    "it raises": lambda p, q, k, a: 1 / 0,
}


def test_an_object_without_a_search_is_refused(snapshot) -> None:
    with pytest.raises(ContractBroken, match="'custom' has no method search"):
        build(object(), snapshot, PLAIN, NEVER)


@pytest.mark.parametrize("search", BROKEN.values(), ids=BROKEN)
def test_a_broken_contract_is_named(snapshot, search) -> None:
    with pytest.raises(ContractBroken, match=r"^the retriever 'mine' (gave|failed)"):
        own(snapshot, search).search(["x"], 2)


def test_passages_outside_the_filter_are_refused(snapshot) -> None:
    with pytest.raises(ContractBroken, match="the filter excludes"):
        own(snapshot, lambda p, q, k, a: [[Hit(p[0], 1.0, 1)]]).search(["x"], 2, ids_of(snapshot, "z"))
