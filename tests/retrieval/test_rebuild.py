"""After any sequence of changes the rankings are those of a fresh build, lexical scores to the last bit."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.index import FileState, Store
from spanwise.index.analysis import Analyzer
from spanwise.retrieval.bm25 import bm25_retriever
from spanwise.retrieval.tfidf import tfidf_retriever
from spanwise.types import Document, Passage

PLAIN = Analyzer(stem=False, stop_words=False)
WORDS = [f"w{number}" for number in range(12)]
NAMES = st.sampled_from("abcdef")
PASSAGES = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=4)
CHANGES = st.lists(st.tuples(NAMES, st.none() | PASSAGES), max_size=5)  # None removes the document
COMMITS = st.lists(st.tuples(CHANGES, st.booleans()), min_size=1, max_size=4)
QUESTIONS = ["w0", "w1 w2", "w3 w3 w4 w11", "w5 w6 w7 w8"]


def put(writer, name, texts) -> None:
    text = "\n".join(texts)
    starts = np.cumsum([0, *(len(part) + 1 for part in texts)]).tolist()
    passages = [Passage(0, name, at, at + len(part), part) for at, part in zip(starts, texts, strict=False)]
    terms = [PLAIN.terms(part) for part in texts]
    writer.put(Document(name, "text/plain", "0", "", text), passages, terms, FileState(0, 0, "0"))


def vector_of(passage: Passage):
    seed = list(passage.text.encode("utf-8"))  # nothing else: passages of equal text share a vector
    vector = np.random.default_rng(seed).standard_normal(8)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def encode(store: Store) -> None:
    with store.writer() as writer, store.snapshot() as snapshot:
        ids = snapshot.without_vectors("m").tolist()
        if ids:
            writer.put_vectors("m", ids, np.stack([vector_of(p) for p in snapshot.passages(ids)]))
        writer.commit()


def answers(store: Store):
    """Every ranking as (document, start, score); and the statistics that scores are made from."""
    found = {}
    with store.snapshot() as snapshot:
        for make in (bm25_retriever, tfidf_retriever):
            for hits in make(snapshot, PLAIN).search(QUESTIONS, 7):
                found.setdefault(make.__name__, []).append(
                    [(hit.passage.document_id, hit.passage.start, hit.score) for hit in hits]
                )
        found["statistics"] = snapshot.postings().all_statistics
        if snapshot.vector_models():
            queries = np.eye(8, dtype=np.float32)
            for ranking in snapshot.vectors("m").search(queries, 5):
                places = snapshot.places(ranking.passage_ids.tolist())
                found.setdefault("dense", []).append((places, ranking.scores.tolist()))
    return found


def change(store: Store, changes, expected: dict[str, list[str]]) -> None:
    with store.writer() as writer:
        for name, texts in changes:
            if texts is not None:
                put(writer, name, texts)
                expected[name] = texts
            elif expected.pop(name, None) is not None:
                writer.remove(name)
        writer.commit()


@settings(max_examples=20)
@given(COMMITS)
def test_any_history_answers_like_a_fresh_build(commits) -> None:
    expected: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stores:
        lived, fresh = (stores.enter_context(Store.create(Path(folder, name), {})) for name in "lf")
        for changes, encoded in commits:
            change(lived, changes, expected)
            if encoded:
                encode(lived)
        change(fresh, sorted(expected.items(), reverse=True), {})
        encode(lived)
        encode(fresh)
        assert lived.verify() == []
        assert answers(lived) == answers(fresh)


@pytest.mark.stress
def test_two_hundred_commits_answer_like_one(tmp_path) -> None:
    draw = np.random.default_rng(3)
    expected: dict[str, list[str]] = {}
    with Store.create(tmp_path / "lived", {}) as lived, Store.create(tmp_path / "fresh", {}) as fresh:
        for _ in range(200):
            texts = [" ".join(draw.choice(WORDS, 10)) for _ in range(draw.integers(1, 5))]
            change(lived, [(f"d{draw.integers(60)}", texts if draw.random() < 0.8 else None)], expected)
        change(fresh, expected.items(), {})
        assert answers(lived) == answers(fresh)
        assert lived.verify() == []
