"""A library as a retriever of LangChain."""

from __future__ import annotations

from spanwise.types import Filter, Hit

from spanwise.errors import needing
from ..library import Library
from ..reranking import DEPTH
from .metadata import Search, hit_metadata

with needing("langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import InstanceOf


class SpanwiseRetriever(BaseRetriever):
    """Finds what `Library.search` finds, in that order, as documents of LangChain.

    The arguments are those of `Library.search`. The metadata of each document say where it stands, see
    `metadata.hit_metadata`; its id is that of the passage. `ainvoke` searches in a thread. The library stays
    yours to close.
    """

    library: InstanceOf[Library]
    k: int = 10
    retriever: str | None = None
    group: bool = True
    where: InstanceOf[Filter] | None = None
    rerank: str | None = None
    rerank_depth: int = DEPTH

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        how = Search(self.k, self.retriever, self.group, self.where, self.rerank, self.rerank_depth)
        return [document_of(hit) for hit in how.hits(self.library, query)]


def document_of(hit: Hit) -> Document:
    """A hit as a document of LangChain."""
    return Document(id=str(hit.passage.id), page_content=hit.passage.text, metadata=hit_metadata(hit))
