"""Tokens that give no vector, such as punctuation, and what is kept of a text that has nothing else."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

PUNCTUATION = tuple(string.punctuation)  # what ColBERT skips in passages


def marks_of(vocabulary: Iterable[str]) -> tuple[str, ...]:
    """[CLS], [SEP], and punctuation: that of ASCII, then what else of the vocabulary is, in any script.

    >>> marks_of(["[CLS]", "mill", "»", "."])[-2:]
    ('~', '»')
    """
    marks = {word for word in vocabulary if len(word) == 1 and unicodedata.category(word).startswith("P")}
    return "[CLS]", "[SEP]", *PUNCTUATION, *sorted(marks - set(PUNCTUATION))


def skipped_ids(words: Iterable[str], vocabulary: Mapping[str, int]) -> frozenset[int]:
    """The ids of these words; a word that is not one token of the vocabulary is not skipped.

    >>> sorted(skipped_ids([".", "absent"], {".": 3, "mill": 4}))
    [3]
    """
    return frozenset(vocabulary[word] for word in words if word in vocabulary)


def kept_places(ids: Sequence[int], skipped: Collection[int], special: Collection[int]) -> list[int]:
    """The places in `ids` of the tokens that give a vector: those that are not skipped.

    Every text gives one at least. If all its tokens are skipped, as in a passage of nothing but dashes, those
    that are not `special` are kept all the same; if there are none, [CLS] and [SEP] stand for the empty text.

    >>> kept_places([101, 7, 102], {101, 102}, {101, 102}), kept_places([101, 102], {101, 102}, {101, 102})
    ([1], [0, 1])
    """
    for left_out in (skipped, special, ()):
        places = [place for place, token in enumerate(ids) if token not in left_out]
        if places:
            return places
    raise ValueError("no tokens, expected at least one")
