"""What of an index a retriever needs."""

from __future__ import annotations

from ...index.code_cache import CACHE
from ..library import Library
from ..models import stages_below
from ..status import bytes_below

KINDS = {"dense": ("vectors", "codes"), "colbert": ("tokens", "codebook")}  # all others: postings


def index_bytes(library: Library, retriever: str) -> int:
    """How many bytes of the last commit it reads beside the catalog, which holds the text for all of them.

    A cross-encoder needs none.
    """
    sizes = {**library.snapshot.sizes(), "codes": bytes_below(library.store.path / CACHE)}
    kinds = {kind for stage in stages_below([retriever]) for kind in KINDS.get(stage, ("postings",))}
    return sum(sizes.get(kind, 0) for kind in kinds)
