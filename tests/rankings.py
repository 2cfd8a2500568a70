"""Every ranking of an index, to be compared with those of a fresh build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from made_corpora import MODEL, PLAIN, Texts, stage, vector_of

from spanwise.index import Store
from spanwise.retrieval.bm25 import bm25_retriever
from spanwise.retrieval.tfidf import tfidf_retriever

WORDS = [f"w{number}" for number in range(12)]
QUESTIONS = ["w0", "w1 w2", "w3 w3 w4 w11", "w5 w6 w7 w8"]


def encode(store: Store) -> None:
    """Store the vectors that are missing, in a commit of their own."""
    with store.writer() as writer, store.snapshot() as snapshot:
        ids = snapshot.without_vectors(MODEL).tolist()
        if ids:
            vectors = np.stack([vector_of(passage.text) for passage in snapshot.passages(ids)])
            writer.put_vectors(MODEL, ids, vectors)
        writer.commit()


def rankings(store: Store) -> dict[str, Any]:
    """Each ranking as (document, start, score), and the statistics that lexical scores are made from."""
    found: dict[str, Any] = {}
    with store.snapshot() as snapshot:
        for make in (bm25_retriever, tfidf_retriever):
            found[make.__name__] = [
                [(hit.passage.document_id, hit.passage.start, hit.score) for hit in hits]
                for hits in make(snapshot, PLAIN).search(QUESTIONS, 7)
            ]
        found["statistics"] = snapshot.postings().all_statistics
        if snapshot.vector_models():
            queries = np.stack([vector_of(question) for question in QUESTIONS])
            found["dense"] = [
                (snapshot.places(ranking.passage_ids.tolist()), ranking.scores.tolist())
                for ranking in snapshot.vectors(MODEL).search(queries, 5)
            ]
    return found


def fresh_build(path: Path, texts: Texts) -> dict[str, Any]:
    """The rankings of a new index of these documents, written in one commit and in another order."""
    with Store.create(path, {}) as store:
        with store.writer() as writer:
            stage(writer, dict(sorted(texts.items(), reverse=True)), vectors=True)
            writer.commit()
        return rankings(store)
