"""Documents are ranked by their best passage, as deep as it takes and no deeper."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.pipelines.evaluation.document_ranking import rank_documents
from spanwise.types import Hit, Passage


class Listed:
    """A retriever that finds the passages of these documents, one score lower each; notes each depth."""

    name = "listed"

    def __init__(self, *documents: str) -> None:
        self.documents, self.depths = documents, []

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        self.depths.append(k)
        return [[hit(name, rank, 1 / rank) for rank, name in enumerate(self.documents[:k], 1)]]


class Fusion(Listed):
    """One that ranks the other way round, and higher, when it looks deeper than two passages."""

    def search(self, questions, k):
        self.depths.append(k)
        names = self.documents if k <= 2 else self.documents[::-1]
        return [[hit(name, rank, k / rank) for rank, name in enumerate(names[:k], 1)]]


def hit(document: str, rank: int, score: float) -> Hit:
    return Hit(Passage(rank, document, rank, rank + 1, "x"), score, rank)


def names(ranking) -> str:
    return "".join(document for document, _ in ranking.documents)


def test_a_document_stands_where_its_best_passage_stands() -> None:
    ranking = rank_documents(Listed("b", "a", "b", "c"), "q", 3, n_passages=4)
    assert ranking.documents == [("b", 1.0), ("a", 1 / 2), ("c", 1 / 4)]


def test_it_looks_deeper_while_passages_share_documents() -> None:
    retriever = Listed(*"aaaabbbbcd")
    assert names(rank_documents(retriever, "q", 3)) == "abc"
    assert retriever.depths == [3, 4, 6, 8, 11]


def test_it_stops_where_nothing_more_is_found() -> None:
    retriever = Listed(*"aab")
    assert names(rank_documents(retriever, "q", 4)) == "ab"
    assert retriever.depths == [4]


def test_nothing_found_is_an_empty_ranking() -> None:
    assert rank_documents(Listed(), "q", 4).documents == []


def test_what_stood_first_stays_first_and_scores_never_rise() -> None:
    ranking = rank_documents(Fusion(*"aabcd"), "q", 2)
    assert [h.passage.document_id for h in ranking.hits] == ["a", "a"]
    assert names(ranking)[0] == "a"
    scores = [score for _, score in ranking.documents]
    assert scores == sorted(scores, reverse=True)


def test_as_many_passages_come_out_as_are_read() -> None:
    assert len(rank_documents(Listed(*"abcdefgh"), "q", 2, n_passages=6).hits) == 6
