from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers.postings import segment_of
from hypothesis import given, strategies as st

from spanwise.errors import IndexCorrupt
from spanwise.index.live_postings import CorpusStatistics, LivePostings
from spanwise.index.postings import PostingsBuilder, PostingsSegment, merge_postings
from spanwise.index.segment import Segment

TERM = st.text("abc\u00e9\u6771", min_size=1, max_size=3)
PASSAGES = st.lists(st.lists(TERM, max_size=8), max_size=6)
NOBODY = np.empty(0, np.int64)


@given(PASSAGES)
def test_every_term_is_found_where_it_occurs(passages) -> None:
    segment = segment_of(passages)
    for term in {term for terms in passages for term in terms} | {"zz", "", "a\u0000"}:
        expected = {row: Counter(terms)[term] for row, terms in enumerate(passages) if term in terms}
        rows, counts = segment.find(term)
        assert dict(zip(rows.tolist(), counts.tolist(), strict=True)) == expected
        assert rows.tolist() == sorted(expected)


@given(PASSAGES, PASSAGES, st.sets(st.integers(1, 12)))
def test_segments_count_as_one_corpus_of_live_passages(first, second, deleted) -> None:
    segments = [segment_of(first), segment_of(second, first_id=7)]
    numbered = {**dict(enumerate(first, start=1)), **dict(enumerate(second, start=7))}
    live = [terms for number, terms in numbered.items() if number not in deleted]
    df = Counter(term for terms in live for term in set(terms))
    postings = LivePostings(segments, np.array(sorted(deleted), np.int64))
    expected = CorpusStatistics(len(live), sum(map(len, live)), df)
    assert postings.statistics(df) == expected
    assert postings.all_statistics == expected


@given(PASSAGES, PASSAGES, PASSAGES, st.sets(st.integers(1, 18)))
def test_merged_segments_equal_a_new_segment_of_the_live_passages(part_1, part_2, part_3, deleted) -> None:
    parts = [segment_of(part_1), segment_of(part_2, first_id=7), segment_of(part_3, first_id=13)]
    merged = merge_postings(parts, np.array(sorted(deleted), np.int64))
    numbered = {
        first + row: terms
        for first, part in ((1, part_1), (7, part_2), (13, part_3))
        for row, terms in enumerate(part)
    }
    fresh = PostingsBuilder()
    for number in sorted(numbered.keys() - deleted):
        fresh.add(number, numbered[number])
    for name, column in fresh.columns().items():
        assert np.array_equal(merged[name], column), name
        assert merged[name].dtype == column.dtype


def test_a_damaged_list_is_found_when_it_is_read() -> None:
    builder = PostingsBuilder()
    for number in range(1, 4):
        builder.add(number, ["a", "b"])
    columns = builder.columns()
    columns["rows"][1] ^= 1
    segment = PostingsSegment(Segment(Path("x"), "postings", "", columns, {}, b""))
    with pytest.raises(IndexCorrupt, match="the rows of 'a' do not match"):
        segment.find("a")
    assert segment.find("b")[0].tolist() == [0, 1, 2]
