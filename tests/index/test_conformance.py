"""What every index promises, asked of each of them over the same passages."""

import numpy as np
import pytest

from spanwise.index.lexical import PostingsIndex
from spanwise.index.maxsim.codebook import Codebook

TEXTS = {"b": ["mill", "owl owl"], "a": ["mill", "mill mill mill", "inn"], "c": ["mill"]}
DIRECTIONS = {"mill": 0, "owl owl": 1, "mill mill mill": 0, "inn": 2}

UNIT = np.eye(4, dtype=np.float32)
ROWS = {"mill": 0, "owl": 1, "inn": 2}


class Counting:
    """A weighting whose scores are easy to tell: how often the terms occur."""

    def scores(self, question, postings, statistics):
        scores = np.zeros(len(postings))
        for term in question:
            pairs = postings.term(term)
            scores[pairs.rows] += pairs.counts
        return scores


class Lexical:
    queries = (["mill"], ["owl"], ["zebra"])

    def encode(self, corpus):
        pass

    def index(self, snapshot):
        return PostingsIndex(snapshot.postings(), Counting(), snapshot.places)


class Dense:
    queries = UNIT[:3]

    def encode(self, corpus):
        with corpus.store.writer() as writer, corpus.snapshot() as snapshot:
            ids = snapshot.without_vectors("m").tolist()
            directions = [DIRECTIONS.get(passage.text, 3) for passage in snapshot.passages(ids)]
            writer.put_vectors("m", ids, UNIT[directions])
            writer.commit()

    def index(self, snapshot):
        return snapshot.vectors("m")


class LateInteraction:
    queries = (UNIT[:1], UNIT[1:2], UNIT[1:3])

    def encode(self, corpus):
        with corpus.store.writer() as writer, corpus.snapshot() as snapshot:
            if snapshot.codebook("m") is None:
                writer.put_codebook("m", Codebook.train(UNIT, 4))
            ids = snapshot.without_tokens("m").tolist()
            words = [passage.text.split() for passage in snapshot.passages(ids)]
            rows = [UNIT[ROWS[word]] for parts in words for word in parts]
            writer.put_tokens("m", ids, np.stack(rows), [len(parts) for parts in words])
            writer.commit()

    def index(self, snapshot):
        return snapshot.maxsim("m")


@pytest.fixture(params=[Lexical, Dense, LateInteraction], ids=["postings", "vectors", "tokens"])
def kind(request):
    return request.param()


@pytest.fixture
def corpus(corpus_of, kind):
    """The texts, spread over two segments, with a document deleted and one replaced."""
    corpus = corpus_of({"b": TEXTS["b"], "c": ["mill inn"], "gone": ["mill", "owl"]})
    kind.encode(corpus)
    corpus.write({"a": TEXTS["a"], "c": TEXTS["c"]}, remove=["gone"])
    kind.encode(corpus)
    return corpus


def texts(snapshot, ranking):
    return [
        (passage.document_id, passage.text) for passage in snapshot.passages(ranking.passage_ids.tolist())
    ]


def test_deleted_and_replaced_passages_are_not_found(corpus, kind) -> None:
    with corpus.snapshot() as snapshot:
        for ranking in kind.index(snapshot).search(kind.queries, 100):
            assert set(texts(snapshot, ranking)) <= {(name, part) for name in TEXTS for part in TEXTS[name]}


def test_scores_fall_and_ties_break_by_document_and_start(corpus, kind) -> None:
    with corpus.snapshot() as snapshot:
        ranking = kind.index(snapshot).search(kind.queries, 4)[0]
        places = snapshot.places(ranking.passage_ids.tolist())
        keys = [(-score, place) for score, place in zip(ranking.scores.tolist(), places, strict=True)]
        assert keys == sorted(keys)
        assert {part.split()[0] for _, part in texts(snapshot, ranking)} == {"mill"}
        assert ranking.scores.dtype == np.float64
        assert ranking.passage_ids.dtype == np.int64


def test_a_smaller_k_gives_the_first_of_a_larger_k(corpus, kind) -> None:
    with corpus.snapshot() as snapshot:
        index = kind.index(snapshot)
        all_of_them = index.search(kind.queries, 100)
        for k in range(1, 7):
            for few, many in zip(index.search(kind.queries, k), all_of_them, strict=True):
                assert few.passage_ids.tolist() == many.passage_ids.tolist()[:k]
                assert few.scores.tolist() == many.scores.tolist()[:k]


def test_a_batch_answers_like_its_questions_alone(corpus, kind) -> None:
    with corpus.snapshot() as snapshot:
        index = kind.index(snapshot)
        for number, together in enumerate(index.search(kind.queries, 3)):
            (alone,) = index.search(kind.queries[number : number + 1], 3)
            assert alone.scores.tolist() == together.scores.tolist()


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(corpus, kind, k) -> None:
    with corpus.snapshot() as snapshot, pytest.raises(ValueError, match=f"k must be at least 1, not {k}"):
        kind.index(snapshot).search(kind.queries, k)


def test_among_leaves_out_the_others_and_changes_no_score(corpus, kind) -> None:
    with corpus.snapshot() as snapshot:
        index = kind.index(snapshot)
        every = np.sort(snapshot.passage_ids())
        for among in (every, every[::2], every[:0], np.array([10**9])):
            for whole, part in zip(
                index.search(kind.queries, 100), index.search(kind.queries, 100, among), strict=True
            ):
                is_allowed = np.isin(whole.passage_ids, among)
                assert part.passage_ids.tolist() == whole.passage_ids[is_allowed].tolist()
                assert part.scores.tolist() == whole.scores[is_allowed].tolist()


@pytest.mark.parametrize("among", [[2, 1], [1, 1], [[1, 2]], [1.0, 2.0]])
def test_among_must_ascend(corpus, kind, among) -> None:
    with corpus.snapshot() as snapshot, pytest.raises(ValueError, match="ascending int64 passage ids"):
        kind.index(snapshot).search(kind.queries, 3, np.array(among))
