"""Equal arguments are spelled alike, different ones differently, unknown types not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.pipelines.canonical import canonical


@dataclass(frozen=True)
class Where:
    paths: tuple[str, ...] = ()
    since: date | None = None


simple = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3)
values = st.recursive(
    simple,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.frozensets(simple, max_size=3)
    ),
    max_leaves=6,
)


def spelled(value) -> str:
    return json.dumps(canonical(value))


@given(values, values)
def test_only_what_has_one_repr_is_spelled_alike(one, other):
    if repr(one) == repr(other):
        assert spelled(one) == spelled(other)
    elif spelled(one) == spelled(other):
        assert one == other  # the same set or dictionary, in another order


def test_types_are_told_apart():
    kinds = [1, 1.0, True, "1", (1,), [1], {1}, {"1": 1}, Where(("1",)), date(2024, 1, 1), Path("1"), None]
    assert len({spelled(value) for value in kinds}) == len(kinds)


def test_the_order_of_sets_and_mappings_does_not_matter():
    assert spelled({"a": 1, "b": 2}) == spelled({"b": 2, "a": 1})
    assert spelled({"x", "y", "z"}) == spelled({"z", "y", "x"})


def test_every_field_of_a_dataclass_counts():
    assert len({spelled(Where()), spelled(Where(("a",))), spelled(Where(since=date(2024, 1, 1)))}) == 3


def test_an_unknown_type_is_refused():
    with pytest.raises(TypeError, match="object"):
        canonical((1, object()))
