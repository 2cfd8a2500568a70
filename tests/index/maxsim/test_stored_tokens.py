"""The live passages of all segments as one: right rows, views instead of copies, nothing trusted unread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_token_vectors import WIDTH, codebook, tokens_of

from spanwise.errors import IndexCorrupt
from spanwise.index.maxsim.stored_tokens import StoredTokens
from spanwise.index.maxsim.token_staging import TokensBuilder
from spanwise.index.maxsim.tokens import TokenSegment
from spanwise.index.segment import open_segment
from spanwise.index.segment_writer import write_segment

NOBODY = np.empty(0, np.int64)
TEXTS = [" ".join(f"w{number % 12 + n}" for n in range(1 + number % 4)) for number in range(20)]


def write(folder, first, texts, bits=4):
    """The folder of a segment whose passages are numbered from `first`."""
    builder, tokens = TokensBuilder(), [tokens_of(text) for text in texts]
    ids = np.arange(first, first + len(texts))
    codes, lengths = codebook(bits).encode(np.concatenate(tokens)), np.array(list(map(len, tokens)))
    builder.add(ids, codes, lengths, ids.astype(np.int32))
    return folder / write_segment(folder, "tokens", "t", builder.columns())


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("segments")
    return [write(folder, first, TEXTS[first - 1 : last]) for first, last in ((1, 7), (8, 8), (9, 20))]


def stored_of(paths, deleted=(), bits=4):
    opened = [TokenSegment.open(open_segment(path), codebook(bits)) for path in paths]
    return StoredTokens(opened, np.array(sorted(deleted), np.int64), codebook(bits))


def expected(number):
    return codebook().decode(codebook().encode(tokens_of(TEXTS[number - 1])))


@given(st.sets(st.integers(1, 20)), st.lists(st.integers(0, 19)))
def test_rows_are_those_of_their_passages(paths, deleted, places) -> None:
    stored = stored_of(paths, deleted)
    live = [number for number in range(1, 21) if number not in deleted]
    assert stored.passage_ids.tolist() == live
    assert stored.lengths.tolist() == [len(TEXTS[number - 1].split()) for number in live]
    rows = np.array([place for place in places if place < len(live)], np.int64)
    codes = stored.read(rows)
    wanted = [np.empty((0, WIDTH)), *(expected(live[row]) for row in rows)]
    assert np.array_equal(codebook().decode(codes), np.concatenate(wanted))
    assert stored.rows_of(stored.passage_ids[rows]).tolist() == rows.tolist()


@given(st.sets(st.integers(1, 20)))
def test_parts_are_views_of_what_is_live(paths, deleted) -> None:
    stored = stored_of(paths, deleted)
    found = []
    for part in stored.parts:
        assert part.first == len(found)
        assert not part.codes.values.flags.writeable
        assert not part.codes.values.flags.owndata
        found += [part.codes.values[a:b] for a, b in zip(part.starts, part.ends, strict=True)]
    assert len(found) == len(stored)
    for row, values in enumerate(found):
        assert np.array_equal(values, stored.read(np.array([row])).values)


def test_decoded_follows_the_order_asked(paths) -> None:
    stored = stored_of(paths)
    for number, vectors in zip([12, 3, 3], stored.decoded([12, 3, 3]), strict=True):
        assert np.array_equal(vectors, expected(number))
    assert stored.decoded([]) == []
    assert stored.n_tokens == sum(len(text.split()) for text in TEXTS)


def test_a_passage_without_tokens_is_named(paths) -> None:
    stored = stored_of(paths, deleted=[3])
    assert stored.rows_of(np.array([3, 4, 99])).tolist() == [-1, 2, -1]
    with pytest.raises(ValueError, match="passage 3 has no token vectors"):
        stored.decoded([4, 3])
    assert stored_of(paths[1:2], deleted=[8]).rows_of(np.array([8])).tolist() == [-1]


def flip(path, column, row):
    """Change a bit in the first byte of a row of a column."""
    segment = open_segment(path)
    place = segment.columns[column].ctypes.data - np.frombuffer(segment.data, np.uint8).ctypes.data
    data = bytearray((path / "columns.bin").read_bytes())
    data[place + row * segment.columns[column].strides[0]] ^= 1
    (path / "columns.bin").write_bytes(data)


@pytest.mark.parametrize("column", ["passage_ids", "ends", "centroids", "sums"])
def test_a_flipped_bit_of_a_small_column_is_found_on_opening(tmp_path, column) -> None:
    path = write(tmp_path, 1, TEXTS)
    flip(path, column, 5)
    with pytest.raises(IndexCorrupt, match=f"column {column} does not match its digest"):
        stored_of([path])


@pytest.mark.parametrize("column", ["values", "scales"])
def test_a_flipped_bit_of_codes_is_found_when_they_are_read(tmp_path, column) -> None:
    path = write(tmp_path, 1, TEXTS)
    flip(path, column, 2)  # the second token of the second passage
    stored = stored_of([path])
    assert len(stored.decoded([1, 3, 4])) == 3
    with pytest.raises(IndexCorrupt, match=r"columns\.bin is damaged .the tokens of a passage"):
        stored.decoded([3, 2])
    with pytest.raises(IndexCorrupt, match=f"column {column} does not match its digest"):
        stored.check()


def test_the_covered_column_is_compared_when_it_is_read(tmp_path) -> None:
    path = write(tmp_path, 1, TEXTS)
    flip(path, "covered", 2)
    with pytest.raises(IndexCorrupt, match="column covered does not match its digest"):
        _ = TokenSegment(open_segment(path)).covered


def test_sums_are_compared_once(paths, monkeypatch) -> None:
    compared = []
    monkeypatch.setattr(TokenSegment, "check_rows", lambda self, rows: compared.extend(rows.tolist()))
    stored = stored_of(paths[:1])
    stored.read(np.array([1, 2]))
    stored.read(np.array([2, 1, 0]))
    assert sorted(compared) == [0, 1, 2]


def test_checked_as_a_whole_nothing_is_compared_again(paths, monkeypatch) -> None:
    stored = stored_of(paths)
    stored.check()
    monkeypatch.setattr(TokenSegment, "check_rows", None)
    assert len(stored.decoded([1, 20])) == 2


def forged(folder, **changes):
    """A segment whose digests are right and whose columns make no sense."""
    source = open_segment(write(folder, 1, TEXTS))
    columns = {name: column.copy() for name, column in source.columns.items()} | changes
    return folder / write_segment(folder, "tokens", "t", columns)


ENDS = np.cumsum([len(text.split()) for text in TEXTS])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ends": ENDS[::-1].copy()}, "its ends are not places"),
        ({"ends": ENDS - 1}, "its ends are not places"),
        ({"ends": ENDS * 2}, "its ends are not places"),
        ({"ends": ENDS - 2**40}, "its ends are not places"),
        ({"passage_ids": np.ones(20, np.int64)}, "its passages do not ascend"),
        ({"centroids": np.full(ENDS[-1], 9999, np.uint16)}, "a token has centroid 9999, the codebook has"),
        ({"values": np.zeros((ENDS[-1], 1), np.uint8)}, "1 bytes a token instead of 4"),
    ],
)
def test_columns_that_a_stranger_made_up_are_refused(tmp_path, changes, message) -> None:
    with pytest.raises(IndexCorrupt, match=message):
        stored_of([forged(tmp_path, **changes)])
