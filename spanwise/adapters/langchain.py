"""A library as a retriever of LangChain."""

from __future__ import annotations

from spanwise import Library
from spanwise.adapters.metadata import hit_metadata
from spanwise.errors import needing
from spanwise.types import SearchOptions

with needing("langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import InstanceOf


class SpanwiseRetriever(BaseRetriever):
    """Returns the hits of `Library.search`, in that order, as documents of LangChain.

    A document has the id of its passage and the metadata of `hit_metadata`. Close the library yourself.

    library: an open library
    options: how passages are ranked, as for `Library.search`
    """

    library: InstanceOf[Library]
    options: InstanceOf[SearchOptions] = SearchOptions()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(id=str(hit.passage.id), page_content=hit.passage.readable, metadata=hit_metadata(hit))
            for hit in self.library.search(query, self.options)
        ]
