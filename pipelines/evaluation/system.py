"""What is judged: a retriever, alone or with a cross-encoder behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...retrieval.registry import stages_of
from ..library import Library

RERANKED = "+rerank"


@dataclass(frozen=True, slots=True)
class System:
    """A retriever's name, and the name of the cross-encoder that ranks again what it found, if any."""

    retriever: str
    rerank: str | None = None

    @classmethod
    def named(cls, name: str, rerank: str = "builtin") -> System:
        """The system of a name such as `bm25+colbert+rerank`; `ValueError` lists the retrievers there are.

        >>> System.named("bm25+rerank")
        System(retriever='bm25', rerank='builtin')
        """
        retriever = name.removesuffix(RERANKED)
        stages_of(retriever)
        return cls(retriever, None if retriever == name else rerank)

    @property
    def name(self) -> str:
        """Its name, which does not say by which cross-encoder.

        >>> System("hybrid", "builtin").name
        'hybrid+rerank'
        """
        return self.retriever + RERANKED * bool(self.rerank)

    def index_bytes(self, library: Library) -> int:
        """What of the last commit's segments and codes the retriever needs beside the catalog with the text.

        A cross-encoder needs none.
        """
        from ...index.code_cache import CACHE
        from ..disk_usage import bytes_below

        sizes = {**library.snapshot.sizes(), CACHE: bytes_below(library.store.path / CACHE)}
        kinds = {kind for stage in stages_of(self.retriever) for kind in _NEEDED.get(stage, ("postings",))}
        return sum(sizes.get(kind, 0) for kind in kinds)


_NEEDED = {"dense": ("vectors", "cache"), "colbert": ("tokens", "codebook")}


def systems_of(names: Sequence[str], rerank: str = "builtin") -> tuple[System, ...]:
    """The systems of these names, each once, in order."""
    return tuple(dict.fromkeys(System.named(name, rerank) for name in names))
