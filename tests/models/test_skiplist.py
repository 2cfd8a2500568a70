from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise.models.skiplist import skipped_ids
from spanwise.models.token_encoder import kept_places

IDS = st.lists(st.integers(0, 6), min_size=1, max_size=9)
SOME = st.sets(st.integers(0, 6))


@given(IDS, SOME, SOME)
def test_every_text_keeps_a_token_and_skipped_ones_only_if_there_are_no_others(ids, skipped, special):
    kept = kept_places(ids, skipped, special)
    assert kept == sorted(set(kept)) != []
    if set(ids) - skipped:
        assert [ids[place] for place in kept] == [token for token in ids if token not in skipped]
    elif set(ids) - special:
        assert not special & {ids[place] for place in kept}


def test_words_that_are_not_one_token_are_not_skipped():
    assert skipped_ids(["...", "!"], {"!": 1, "[UNK]": 2}) == {1}
