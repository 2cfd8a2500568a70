"""Edits between words: against every edit spelled out, in characters of any width."""

from hypothesis import given, strategies as st

from spanwise.index.live_postings import prefix_distances

LETTERS = "abé語𐐷"  # of one to four bytes
words = st.text(LETTERS, min_size=1, max_size=6)


def edits(word: str) -> set[str]:
    """Every word one edit away over `LETTERS`."""
    places = range(len(word) + 1)
    dropped = {word[:i] + word[i + 1 :] for i in places[:-1]}
    changed = {word[:i] + c + word[i + 1 :] for i in places[:-1] for c in LETTERS}
    put_in = {word[:i] + c + word[i:] for i in places for c in LETTERS}
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in places[:-2]}
    return (dropped | changed | put_in | swapped) - {word}


@given(words, st.lists(words, max_size=20))
def test_words_at_distance_one_are_those_that_one_edit_makes(typed, others):
    once = edits(typed) - {""}
    others = [typed, *others, *sorted(once)[:10]]
    distances = prefix_distances(typed, others)[:, -1].tolist()
    assert [n == 1 for n in distances] == [other in once for other in others]
