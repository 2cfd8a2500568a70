"""The targets of the fuzzer accept their seeds and survive simple damage; `make fuzz` runs the fuzzer."""

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from targets import targets

TARGETS = targets()


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_accepted(name: str) -> None:
    for seed in TARGETS[name].seeds:
        TARGETS[name].run(seed)


@pytest.mark.reliability
@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=300, deadline=None, derandomize=False, suppress_health_check=list(HealthCheck))
@given(drawn=st.data())
def test_damaged_seeds_are_accepted_or_rejected(name: str, drawn: st.DataObject) -> None:
    seed = drawn.draw(st.sampled_from(TARGETS[name].seeds))
    start, end = sorted(drawn.draw(st.tuples(*[st.integers(0, len(seed))] * 2)))
    TARGETS[name].run(seed[:start] + drawn.draw(st.binary(max_size=9)) + seed[end:])
