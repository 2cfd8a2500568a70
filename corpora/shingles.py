"""How much two texts repeat each other: the Jaccard similarity of their word shingles.

Source: Broder 1997, "On the resemblance and containment of documents".
"""

from __future__ import annotations

N_WORDS = 3


def shingles(text: str, n_words: int = N_WORDS) -> frozenset[tuple[str, ...]]:
    """The sets of `n_words` neighbouring words, case and white space aside; a shorter text is one shingle."""
    words = text.casefold().split()
    if len(words) <= n_words:
        return frozenset((tuple(words),)) if words else frozenset()
    return frozenset(tuple(words[at : at + n_words]) for at in range(len(words) - n_words + 1))


def jaccard(a: str, b: str, n_words: int = N_WORDS) -> float:
    """|A and B| / |A or B| over the shingles of two texts: 1.0 for the same words, 0.0 for nothing shared.

    Two texts without words are equal.

    >>> jaccard("the black cat sat on the mat", "the cat sat on the mat")
    0.5
    """
    first, second = shingles(a, n_words), shingles(b, n_words)
    either = len(first | second)
    return len(first & second) / either if either else 1.0
