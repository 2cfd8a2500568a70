"""What is fixed when an MCP server starts, and what no request can change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..reranking import DEPTH
from ..models import RERANKER

if TYPE_CHECKING:
    from ..summarizing.writing import Writing


@dataclass(frozen=True, slots=True)
class Settings:
    """The models that answer: no request names a model, a path or an address.

    `reader` reads, `rerank` is the cross-encoder of those calls that ask for one, and reads `rerank_depth`
    passages; with `writing` summaries are written by a generator instead of quoted. `retriever` searches
    where a call names none; None is the default of the index. `call_s` is how many seconds a call may take,
    with those before it; None is as long as it takes. ValueError for no time at all.
    """

    reader: str = "builtin"
    retriever: str | None = None
    rerank: str = RERANKER
    rerank_depth: int = DEPTH
    writing: Writing | None = None
    call_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit that lets nothing through."""
        if self.call_s is not None and not self.call_s > 0:
            raise ValueError(f"call_s is {self.call_s}, expected more than 0 seconds")
