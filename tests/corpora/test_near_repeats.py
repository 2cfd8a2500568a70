"""What is found without comparing every pair is what comparing every pair finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.near_repeats import NearRepeats
from spanwise.corpora.shingles import jaccard

SENTENCE = st.lists(st.sampled_from("who built the old mill when and why".split()), max_size=12).map(" ".join)


@given(st.lists(SENTENCE, max_size=8), SENTENCE, st.sampled_from([0.2, 0.5, 0.75, 0.8, 1.0]))
def test_it_agrees_with_the_similarity_of_each_pair(texts, text, least):
    wanted = bool(text) and any(each and jaccard(text, each) >= least for each in texts)
    assert NearRepeats(texts, least).like(text) == wanted


def test_case_and_white_space_do_not_count():
    assert NearRepeats(["Who  built the mill?"]).like("who built the\nMILL?")


def test_short_questions_repeat_only_as_a_whole():
    assert NearRepeats(["Why?"]).like("why?")
    assert not NearRepeats(["Why?"]).like("why not?")


@pytest.mark.parametrize("least", [0, 1.1])
def test_a_similarity_that_means_nothing_is_refused(least):
    with pytest.raises(ValueError, match="least must be"):
        NearRepeats([], least)
