"""What people call the columns of a table: other words for their names, and similar words.

A word names a column with the strength 1 if the name has it, and `MEANT` if it is listed here for a word of
the name. Otherwise the strength is the cosine of their token vectors, if it is `SIMILAR` at least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..understanding.patterns import mapping

if TYPE_CHECKING:
    from ...retrieval.protocol import TokenEncoder

MEANT = 0.85
SIMILAR = 0.55
MAX_NAMES = 40  # columns; the names of wider tables are compared by their words alone
MAX_TABLES = 32  # whose names are kept as vectors
MAX_QUESTIONS = 8  # whose words are kept as vectors
MEANINGS = mapping("columns.meanings")


class ColumnNames:
    """Compares words of questions with names of columns; `load` gives the encoder when it is first needed."""

    def __init__(self, load: Callable[[], TokenEncoder]) -> None:
        self._vectors = lru_cache(MAX_TABLES)(lambda names: load().encode_questions(names))
        self._words = lru_cache(MAX_QUESTIONS)(
            lambda words: load().encode_questions([" ".join(words), *words])
        )

    def similarities(self, words: Sequence[str], names: tuple[str, ...]) -> NDArray[np.float32]:
        """The largest cosine of each word, within the question or alone, and a name: (words, names) float32.

        Zeros for names of too many columns.
        """
        similar = np.zeros((len(words), len(names)), np.float32)
        if not words or len(names) > MAX_NAMES:
            return similar
        whole, *alone = self._words(tuple(words))
        ends = list(accumulate(map(len, alone)))
        for i, vectors in enumerate(alone):
            in_question = whole[ends[i] - len(vectors) : ends[i]]
            rows = np.concatenate([vectors, in_question]) if ends[-1] == len(whole) else vectors
            for column, name in enumerate(self._vectors(names)):
                cosines = rows @ name.T  # (2 T, tokens of the name)
                similar[i, column] = cosines.reshape(-1, len(vectors), len(name)).max(2).mean(1).max()
        return similar
