import numpy as np
from helpers.corpora import PLAIN
from hypothesis import given, strategies as st

from spanwise.index.protocol import Ranking
from spanwise.retrieval.bm25 import bm25_retriever
from spanwise.retrieval.stage import FusionRetriever, fuse, lexical_stage
from spanwise.retrieval.tfidf import tfidf_index
from spanwise.types import Passage


def ranking(*passage_ids):
    return Ranking(np.array(passage_ids, np.int64), 1 / np.arange(1.0, len(passage_ids) + 1))


def places(passage_ids):
    return [(f"d{number}", 0, 1) for number in passage_ids]


class Documents:
    """Stands for a snapshot: a passage a document; it remembers which were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def cached_passages(self, passage_ids):
        self.read += passage_ids
        return [Passage(number, f"d{number}", 0, 1, "x") for number in passage_ids]

    places = staticmethod(places)


class Fixed:
    def __init__(self, name, *passage_ids) -> None:
        self.name = name
        self.passage_ids = passage_ids

    def rank(self, questions, k, among=None):
        return [ranking(*self.passage_ids[:k]) for _ in questions]


def fused(*rankings, k=40):
    return fuse(rankings, k, places)


def test_only_the_passages_that_are_shown_are_read() -> None:
    snapshot = Documents()
    FusionRetriever([Fixed("a", *range(1, 90)), Fixed("b", *range(50, 150))], snapshot).search(["q"], 3)
    assert len(snapshot.read) == 3


def test_the_fusion_of_two_indexes_is_that_of_their_hits(corpus_of) -> None:
    texts = [f"{'mill ' * (n % 3)}{'owl ' * (n % 4)}{'inn ' * (n % 5)}".strip() or "x" for n in range(40)]
    with corpus_of({f"d{n % 7}": texts[n::7] for n in range(7)}).snapshot() as snapshot:
        index = tfidf_index(snapshot.postings(), snapshot.places)
        stages = [bm25_retriever(snapshot, PLAIN), lexical_stage("tfidf", index, snapshot, PLAIN)]
        for k in (1, 5, 200):
            [hits] = FusionRetriever(stages, snapshot).search(["mill inn owl"], k)
            assert [(h.passage, h.score, h.rank, h.scores) for h in hits] == slow_fusion(stages, k)


def slow_fusion(stages, k):
    """The same from whole hits, as the formula reads."""
    passages = {}
    totals = {}
    scores = {}
    for stage in stages:
        for hit in stage.search(["mill inn owl"], max(k, 100))[0]:
            passages[hit.passage.id] = hit.passage
            totals[hit.passage.id] = totals.get(hit.passage.id, 0.0) + 1 / (60 + hit.rank)
            scores.setdefault(hit.passage.id, {}).update(hit.scores)
    order = sorted(passages, key=lambda n: (-totals[n], passages[n].document_id, passages[n].start))[:k]
    return [
        (passages[n], totals[n], rank, scores[n] | {"bm25+tfidf": totals[n]})
        for rank, n in enumerate(order, start=1)
    ]


@given(st.lists(st.integers(1, 30), unique=True), st.lists(st.integers(1, 30), unique=True))
def test_the_order_of_stages_does_not_matter(first, second) -> None:
    forth = fused(ranking(*first), ranking(*second))
    back = fused(ranking(*second), ranking(*first))
    assert forth.passage_ids.tolist() == back.passage_ids.tolist()
    assert set(forth.passage_ids.tolist()) == {*first, *second}
