"""What a score of late interaction rests on: the passage token that each question token matched.

The passage's side is what is stored, compressed, so that the similarities add up to the score of the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit, Passage, TokenMatch

from ..index import Snapshot
from ..index.rows import indexed_text
from .protocol import TokenEncoder

NOWHERE = -1

Offsets = tuple[int, int] | None


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


def aligned(question: str, hits: Sequence[Hit], snapshot: Snapshot, encoder: TokenEncoder) -> list[Hit]:
    """The hits with their alignments: a match for each token vector of the question, in its order.

    A passage without token vectors keeps an empty one. Of equal similarities the first token is taken.
    """
    [rows] = encoder.encode_questions([question])  # (m, dim)
    asked = encoder.question_offsets(question)
    stored = snapshot.stored_tokens(encoder.digest)
    ids = np.array([hit.passage.id for hit in hits], np.int64)
    known = ids[stored.rows_of(ids) >= 0]
    decoded = dict(zip(known.tolist(), stored.decoded(known), strict=True))
    return [
        replace(hit, alignment=_matches(question, rows, asked, hit.passage, decoded[hit.passage.id], encoder))
        if hit.passage.id in decoded
        else hit
        for hit in hits
    ]


def _matches(
    question: str,
    rows: NDArray[np.float32],
    asked: Sequence[Offsets],
    passage: Passage,
    tokens: NDArray[np.float32],
    encoder: TokenEncoder,
) -> tuple[TokenMatch, ...]:
    text = indexed_text(passage)
    shift = passage.start - (len(text) - len(passage.text))  # from the indexed text to the document
    offsets = encoder.passage_offsets(text)
    similarities = rows @ tokens.T  # (m, t)
    found = []
    for row, best in enumerate(similarities.argmax(axis=1).tolist()):
        words, start, end = _cut(text, offsets[best])
        inside = start + shift >= passage.start
        place = (start + shift, end + shift) if inside else (NOWHERE, NOWHERE)
        found.append(TokenMatch(*_cut(question, asked[row]), words, *place, float(similarities[row, best])))
    return tuple(found)


def _cut(text: str, offsets: Offsets) -> tuple[str, int, int]:
    """The words there; nothing, nowhere, for a marker of the model."""
    if offsets is None:
        return "", NOWHERE, NOWHERE
    start, end = offsets
    return text[start:end], start, end
