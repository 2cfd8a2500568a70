"""The bound that a sketch gives on the runs that two passages share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise.retrieval.sketch import BITS, shingles, sketch

TERMS = st.lists(st.sampled_from("the mill by weir was built of a tram town".split()), max_size=40)


@given(TERMS, TERMS)
def test_no_more_is_shared_than_the_sketch_says(terms, others) -> None:
    shared = len(shingles(terms) & shingles(others))
    assert sketch(terms).most_shared(sketch(others).bits) >= shared


def test_the_bound_holds_where_there_are_more_runs_than_bits() -> None:
    terms = [str(number) for number in range(3 * BITS)]
    assert sketch(terms).most_shared(sketch(terms[:BITS]).bits) >= BITS - 2
    assert sketch(terms).n_shingles == 3 * BITS - 2


def test_passages_with_nothing_in_common_are_told_apart() -> None:
    one, other = (sketch([f"{name}{n}" for n in range(200)]) for name in "ab")
    assert one.most_shared(other.bits) < 0.3 * one.n_shingles


def test_fewer_than_three_terms_are_one_run() -> None:
    assert [sketch(terms).n_shingles for terms in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [1, 1, 1, 1]
    assert shingles([]) == {()}
