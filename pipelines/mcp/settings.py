"""What is fixed when an MCP server starts, and what no request can change."""

from __future__ import annotations

from dataclasses import dataclass

from spanwise.types import EXTRACTIVE

from ..reranking import DEPTH, MODEL


@dataclass(frozen=True, slots=True)
class Settings:
    """The models that answer: no request names a model, a path or an address.

    `reader` reads, `rerank` is the cross-encoder of those calls that ask for one, and reads `rerank_depth`
    passages; `generator` writes summaries, or quotes. `retriever` searches
    where a call names none; None is the default of the index. `call_s` is how many seconds a call may take,
    with those before it; None is as long as it takes. ValueError for no time at all.
    """

    reader: str = "builtin"
    retriever: str | None = None
    rerank: str = MODEL
    rerank_depth: int = DEPTH
    generator: str | object = EXTRACTIVE
    call_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit that lets nothing through."""
        if self.call_s is not None and not self.call_s > 0:
            raise ValueError(f"call_s is {self.call_s}, expected more than 0 seconds")
