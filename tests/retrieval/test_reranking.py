from itertools import pairwise

import numpy as np
from hypothesis import given, strategies as st

from spanwise.retrieval.reranking import RerankingRetriever
from spanwise.types import Hit, Passage

MILL = "the mill by the weir was built by ada rook for the guild of the millers of the town"


class Ranked:
    """A retriever that ranks the texts in their order, each by the score given or by its place."""

    name = "ranked"

    def __init__(self, *texts: str, scores=None, heading=()) -> None:
        scores = scores or [1 / n for n in range(1, len(texts) + 1)]
        self.depths: list[int] = []
        self.hits = [
            Hit(Passage(n, f"{n:03}", 0, len(text), text, heading=heading), score, n, {"ranked": score})
            for n, (text, score) in enumerate(zip(texts, scores, strict=True), start=1)
        ]

    def search(self, questions, k, among=None):
        self.depths.append(k)
        hits = [hit for hit in self.hits if among is None or hit.passage.id in among]
        return [hits[:k] for _ in questions]


class ByLength:
    """Scores a passage by the length of its text."""

    digest = "length"

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], list[list[str]]]] = []

    def score(self, questions, passages, report=lambda done: None):
        self.calls.append((list(questions), [list(texts) for texts in passages]))
        report(sum(map(len, passages)))
        return [np.array([len(text) for text in texts], np.float32) for texts in passages]


def reranker(*texts: str, depth: int = 10, **options) -> RerankingRetriever:
    return RerankingRetriever(Ranked(*texts, **options), ByLength(), depth)


def test_the_best_are_ranked_by_the_scorer_and_keep_their_scores():
    [hits] = reranker("a", "aaa", "aa").search(["who?"], 3)
    assert [hit.passage.id for hit in hits] == [2, 3, 1]
    assert [hit.score for hit in hits] == [3, 2, 1]
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert dict(hits[0].scores) == {"ranked": 0.5, "rerank": 3}


def test_below_the_depth_the_retrievers_order_follows():
    [hits] = reranker("a", "aa", "aaaa", "aaa", depth=2).search(["who?"], 4)
    assert [hit.passage.id for hit in hits] == [2, 1, 3, 4]
    assert [set(hit.scores) for hit in hits[2:]] == [{"ranked"}, {"ranked"}]


@given(st.lists(st.text("a", max_size=5), min_size=1, max_size=9), st.integers(1, 10), st.integers(1, 9))
def test_hits_are_ordered_by_score_and_a_smaller_k_gives_the_first_of_a_larger_k(texts, depth, k):
    search = reranker(*texts, depth=depth).search
    [hits] = search(["who?"], 9)
    [fewer] = search(["who?"], k)
    assert sorted(hit.passage.id for hit in hits) == list(range(1, len(texts) + 1))
    assert [hit.rank for hit in hits] == list(range(1, len(texts) + 1))
    assert all(hit.score >= following.score for hit, following in pairwise(hits))
    assert fewer == hits[:k]


def test_a_repeated_question_is_not_scored_again():
    asked = reranker("a", "aa", "aaa", depth=2)
    for k, questions in ((1, ["who?"]), (3, ["who?"]), (3, ["why?"])):
        asked.search(questions, k)
    assert [questions for questions, _ in asked._scorer.calls] == [["who?"], ["why?"]]
    assert asked._retriever.depths == [2, 3, 3]


def test_only_passages_among_the_allowed_ones_are_scored():
    asked = reranker("a", "aa", "aaa")
    [hits] = asked.search(["who?"], 3, np.array([1, 2], np.int64))
    assert [hit.passage.id for hit in hits] == [2, 1]


def test_passages_are_scored_with_their_headings():
    asked = reranker("It was built.", heading=("The mill", "History"))
    asked.search(["who?"], 1)
    assert asked._scorer.calls[0][1] == [["The mill\nHistory\nIt was built."]]
