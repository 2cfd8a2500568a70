"""`Library.alignment`: how similar each token of a question is to each token of a passage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanwise.errors import IndexEmpty

from ..questions import checked_question

if TYPE_CHECKING:
    from ...retrieval.alignment import Token, TokenSimilarities
    from ..library import Library


def alignment(library: Library, question: str, passage: int) -> TokenSimilarities:
    """The similarities that MaxSim takes the best of, for the passage of that id.

    IndexEmpty where the index, or this passage, has no token vectors; ValueError for an id that no passage
    has, and where several tokens share a vector.
    """
    from ...retrieval.alignment import check_alignable, similarities

    asked, encoder = checked_question(question), library.token_encoder
    check_alignable("colbert", library.colbert.pool if library.colbert else 1)
    with library._generations.last() as generation:
        [wanted] = generation.snapshot.passages([passage])
        found = similarities(asked, wanted, generation.snapshot, encoder)
    if found is None:
        raise IndexEmpty(
            f"passage {passage} has no token vectors yet; make them with: {library.sync_command}"
        )
    return found


def alignment_record(found: TokenSimilarities) -> dict[str, Any]:
    """The tokens and the matrix, a row for each token of the question, similarities in 4 digits.

    Offsets are code points, of the question and of the document; -1 for what has no such place.
    """
    return {
        "question": [_token_record(token) for token in found.question],
        "tokens": [_token_record(token) for token in found.tokens],
        "similarities": [[round(value, 4) for value in row] for row in found.matrix.tolist()],
        "score": round(found.score, 4),
    }


def _token_record(token: Token) -> dict[str, Any]:
    return {"text": token.text, "start": token.start, "end": token.end}
