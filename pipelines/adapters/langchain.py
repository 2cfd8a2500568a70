"""A library as a retriever of LangChain."""

from __future__ import annotations

from spanwise.errors import needing
from spanwise.types import Hit, SearchOptions

from ..library.library import Library
from .metadata import hit_metadata

with needing("langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import InstanceOf


class SpanwiseRetriever(BaseRetriever):
    """The hits of `Library.search`, in that order, as documents of LangChain.

    `options` are those of `Library.search`. The metadata of a document say where it is, see
    `metadata.hit_metadata`; its id is that of the passage. You close the library.
    """

    library: InstanceOf[Library]
    options: InstanceOf[SearchOptions] = SearchOptions()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [document_of(hit) for hit in self.library.search(query, self.options)]


def document_of(hit: Hit) -> Document:
    """A hit as a document of LangChain."""
    return Document(id=str(hit.passage.id), page_content=hit.passage.text, metadata=hit_metadata(hit))
