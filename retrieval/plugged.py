"""How a retriever from a plug-in is made of passages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..index import Snapshot as Passages
from .retrievers import Searching

__all__ = ["Passages", "RetrieverFactory", "RetrieverSource"]

RetrieverFactory = Callable[[Passages], Searching]


@dataclass(frozen=True, slots=True, eq=False)
class RetrieverSource:
    """A factory of retrievers, and its name in errors.

    `state` names all that its rankings depend on beside the passages, None when that is not known.
    """

    label: str
    make: RetrieverFactory
    state: str | None = None

    def __call__(self, passages: Passages) -> Searching:
        """The retriever over these passages."""
        return self.make(passages)
