"""What a writer refuses before anything changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Document, Passage

from .rows import FileState


def check_digest(model_digest: str) -> None:
    """Refuse a model without a digest."""
    if not model_digest:
        raise ValueError("the digest of the model is empty")


def checked_ids(model_digest: str, passage_ids: Sequence[int]) -> NDArray[np.int64]:
    """The ids as a column; `ValueError` when one is named twice or the model has no digest."""
    check_digest(model_digest)
    ids = np.array(passage_ids, np.int64)
    if len(np.unique(ids)) != len(ids):
        raise ValueError("a passage is named twice")
    return ids


def check_document(
    document: Document, passages: Sequence[Passage], terms: Sequence[Sequence[str]], state: FileState
) -> None:
    """Refuse passages that are not those of the document, or that lack their terms."""
    if len(terms) != len(passages):
        raise ValueError(f"{document.id!r} has {len(passages)} passages but {len(terms)} lists of terms")
    if state.sha256 != document.sha256:
        raise ValueError(f"{document.id!r} has sha256 {document.sha256}, its file {state.sha256}")
    for passage in passages:
        if passage.document_id != document.id:
            raise ValueError(f"a passage of {passage.document_id!r} was given with {document.id!r}")
        if document.text[passage.start : passage.end] != passage.text:
            raise ValueError(
                f"passage {passage.start}:{passage.end} is not the text of {document.id!r} there"
            )
