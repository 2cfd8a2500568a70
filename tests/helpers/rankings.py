"""Every ranking of an index, to be compared with those of a fresh build."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.corpora import MODEL, PLAIN, Texts, stage, vector_of
from helpers.token_vectors import TOKEN_MODEL, decoded, maxsim, put_tokens, tokens_of
from spanwise.index.protocol import Ranking
from spanwise.index.store import Store
from spanwise.retrieval.bm25 import bm25_index
from spanwise.retrieval.stage import lexical_stage
from spanwise.retrieval.tfidf import tfidf_index

WORDS = [f"w{number}" for number in range(12)]
QUESTIONS = ["w0", "w1 w2", "w3 w3 w4 w11", "w5 w6 w7 w8"]


def encode(store: Store) -> None:
    """Store the vectors and tokens that are missing, in a commit of their own."""
    with store.writer() as writer, store.snapshot() as snapshot:
        ids = snapshot.without_vectors(MODEL).tolist()
        if ids:
            vectors = np.stack([vector_of(passage.text) for passage in snapshot.passages(ids)])
            writer.put_vectors(MODEL, ids, vectors)
        lacking = snapshot.passages(snapshot.without_tokens(TOKEN_MODEL).tolist())
        put_tokens(writer, [passage.id for passage in lacking], [passage.text for passage in lacking])
        writer.commit()


def rankings(store: Store) -> dict[str, Any]:
    """Each ranking as (document, start, score), and the statistics that lexical scores are made from."""
    by_name: dict[str, Any] = {}
    with store.snapshot() as snapshot:
        for name, make in (("bm25", bm25_index), ("tfidf", tfidf_index)):
            lexical = lexical_stage(name, make(snapshot.postings(), snapshot.places), snapshot, PLAIN)
            by_name[name] = [
                [(hit.passage.document_id, hit.passage.start, hit.score) for hit in hits]
                for hits in lexical.search(QUESTIONS, 7)
            ]
        by_name["statistics"] = snapshot.postings().all_statistics
        if snapshot.vector_models():
            queries = np.stack([vector_of(question) for question in QUESTIONS])
            by_name["dense"] = [
                (snapshot.places(ranking.passage_ids.tolist()), ranking.scores.tolist())
                for ranking in snapshot.vectors(MODEL).search(queries, 5)
            ]
    return by_name


def fresh_build(path: Path, texts: Texts) -> dict[str, Any]:
    """The rankings of a new index of these documents, written in one commit and in another order."""
    with Store.create(path, {}) as store:
        with store.writer() as writer:
            stage(writer, dict(sorted(texts.items(), reverse=True)), vectors=True)
            writer.commit()
        return rankings(store)


Rows = NDArray[np.float32]
K = 5
TOLERANCE = 1e-4


def check_maxsim(store: Store) -> float:
    """The share of the best passages that late interaction finds, after its rankings proved to be those of
    MaxSim over the decoded vectors.

    A passage counts as one of the best when its score over the vectors as they came is, but for 0.01 a row.
    """
    with store.snapshot() as snapshot:
        if not snapshot.token_models():
            return 1.0
        passages = decoded(snapshot)
        assert sorted(passages) == sorted(snapshot.passage_ids().tolist())
        texts = {passage.id: passage.text for passage in snapshot.passages(snapshot.passage_ids())}
        queries = [tokens_of(question) for question in QUESTIONS]
        results = snapshot.maxsim(TOKEN_MODEL, exact=True).search(queries, K)
        return float(np.mean([_share(*pair, passages, texts) for pair in zip(queries, results, strict=True)]))


def _share(query: Rows, ranking: Ranking, passages: Mapping[int, Rows], texts: Mapping[int, str]) -> float:
    scores = {number: maxsim(query, vectors) for number, vectors in passages.items()}
    best = sorted(scores.values(), reverse=True)[:K]
    ids = ranking.passage_ids.tolist()
    assert np.allclose(ranking.scores, best, rtol=0, atol=TOLERANCE)
    assert np.allclose(ranking.scores, [scores[number] for number in ids], rtol=0, atol=TOLERANCE)
    true = {number: maxsim(query, tokens_of(text)) for number, text in texts.items()}
    bound = sorted(true.values(), reverse=True)[len(best) - 1] - 0.01 * len(query)
    return float(np.mean([true[number] >= bound for number in ids]))
