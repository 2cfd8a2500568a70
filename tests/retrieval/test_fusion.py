from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.retrieval.fusion import FusionRetriever, fuse, reciprocal_rank
from spanwise.types import Hit, Passage


def ranking(stage, *passage_ids):
    return [
        Hit(Passage(number, f"d{number}", 0, 1, "x"), 1 / rank, rank, {stage: 1 / rank})
        for rank, number in enumerate(passage_ids, start=1)
    ]


class Fixed:
    def __init__(self, name, *passage_ids) -> None:
        self.name = name
        self.hits = ranking(name, *passage_ids)

    def search(self, questions, k, among=None):
        return [self.hits[:k] for _ in questions]


def test_ranks_of_both_stages_add_up() -> None:
    fused = fuse([ranking("a", 1, 2, 3), ranking("b", 3, 2)], 3, "a+b")
    assert [hit.passage.id for hit in fused] == [3, 2, 1]
    assert fused[0].score == pytest.approx(1 / 63 + 1 / 61)
    assert fused[1].score == pytest.approx(2 / 62)


def test_each_stage_keeps_its_score() -> None:
    (hit,) = fuse([ranking("a", 1), ranking("b", 2, 1)], 1, "a+b")
    assert hit.scores == {"a": 1.0, "b": 0.5, "a+b": hit.score}


def test_ties_break_by_document() -> None:
    fused = fuse([ranking("a", 9, 1), ranking("b", 1, 9)], 2, "a+b")
    assert [hit.passage.document_id for hit in fused] == ["d1", "d9"]


def test_a_stage_that_finds_nothing_takes_no_part() -> None:
    retriever = FusionRetriever([Fixed("a"), Fixed("b", 5, 4)])
    assert [hit.passage.id for hit in retriever.search(["q"], 10)[0]] == [5, 4]
    assert retriever.name == "a+b"


def test_stages_rank_deeper_than_k() -> None:
    retriever = FusionRetriever([Fixed("a", 1, 2, 3), Fixed("b", 4, 3)])
    assert [hit.passage.id for hit in retriever.search(["q"], 1)[0]] == [3]


@given(st.lists(st.integers(1, 30), unique=True), st.lists(st.integers(1, 30), unique=True))
def test_the_order_of_stages_does_not_matter(one, two) -> None:
    forth, back = (
        fuse([ranking("a", *one), ranking("b", *two)], 40, "x"),
        fuse([ranking("b", *two), ranking("a", *one)], 40, "x"),
    )
    assert [hit.passage.id for hit in forth] == [hit.passage.id for hit in back]
    assert {hit.passage.id for hit in forth} == {*one, *two}


def test_one_stage_is_no_fusion() -> None:
    with pytest.raises(ValueError, match="at least two"):
        FusionRetriever([Fixed("a")])


def test_the_first_place_gives_most() -> None:
    assert reciprocal_rank(1) == 1 / 61
