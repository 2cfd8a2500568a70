"""What a score of late interaction rests on: the passage token that each question token matched.

The passage's side is what is stored, compressed, so that the similarities add up to the score of the search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Passage

from ..index import Snapshot
from ..index.rows import indexed_text
from .protocol import TokenEncoder

NOWHERE = -1

Offsets = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Token:
    """The words that a token vector stands for, and where: NOWHERE for a marker and for a heading's words."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TokenSimilarities:
    """Every token of a question against every token of a passage.

    `matrix` is (m, t) float32: the inner product of row i of the question with row j of the passage. Places
    of `question` count code points of the question, those of `tokens` of the document.
    """

    question: tuple[Token, ...]
    tokens: tuple[Token, ...]
    matrix: NDArray[np.float32]

    @property
    def score(self) -> float:
        """The score of the search: the best similarity of each token of the question, summed."""
        return float(self.matrix.max(axis=1).sum()) if self.matrix.size else 0.0


def check_alignable(retriever: str, pool: int = 1) -> None:
    """Raises ValueError for a retriever without token vectors, and for token vectors that were pooled."""
    if "colbert" not in retriever.split("+"):
        raise ValueError(
            f"only the tokens of a colbert stage can be explained, and {retriever!r} has none: "
            "use --retriever colbert, or bm25+colbert"
        )
    if pool > 1:
        raise ValueError(
            f"up to {pool} tokens share a vector in this index, so that none can be told to have matched: "
            "explaining takes an index made with --colbert-pool 1"
        )


def similarities(
    question: str, passage: Passage, snapshot: Snapshot, encoder: TokenEncoder
) -> TokenSimilarities | None:
    """The similarities of one passage; None for a passage without token vectors."""
    stored = snapshot.stored_tokens(encoder.digest)
    ids = np.array([passage.id], np.int64)
    if stored.rows_of(ids)[0] < 0:
        return None
    [rows] = encoder.encode_questions([question])  # (m, dim)
    [tokens] = stored.decoded(ids)  # (t, dim)
    asked = tuple(Token(*_cut(question, offsets)) for offsets in encoder.question_offsets(question))
    text = indexed_text(passage)
    found = tuple(_token(passage, text, offsets) for offsets in encoder.passage_offsets(text))
    return TokenSimilarities(asked, found, rows @ tokens.T)


def _token(passage: Passage, text: str, offsets: Offsets) -> Token:
    """What stands there in the indexed text, with its place in the document."""
    words, start, end = _cut(text, offsets)
    shift = passage.start - (len(text) - len(passage.text))  # from the indexed text to the document
    if not words or start + shift < passage.start:
        return Token(words, NOWHERE, NOWHERE)
    return Token(words, start + shift, end + shift)


def _cut(text: str, offsets: Offsets) -> tuple[str, int, int]:
    """The words there; nothing, nowhere, for a marker of the model."""
    if offsets is None:
        return "", NOWHERE, NOWHERE
    start, end = offsets
    return text[start:end], start, end
