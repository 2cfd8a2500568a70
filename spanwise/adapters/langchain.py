"""A library as a retriever of LangChain."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from spanwise import Library
from spanwise.adapters.metadata import hit_id, hit_metadata
from spanwise.errors import needing
from spanwise.types import SearchOptions

with needing("langchain"):
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, InstanceOf


class SpanwiseRetriever(BaseRetriever):
    """Returns the hits of `Library.search`, in that order, as documents of LangChain.

    A document has the id of `hit_id` and the metadata of `hit_metadata`. `invoke(question, k=3)` gives three
    documents. Other arguments raise TypeError or ValueError. Close the library yourself.

    library: an open library
    options: how passages are ranked, as for `Library.search`
    """

    model_config = ConfigDict(extra="forbid")

    library: InstanceOf[Library]
    options: InstanceOf[SearchOptions] = SearchOptions()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return self._documents(query, k)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return await asyncio.to_thread(self._documents, query, k)

    def _documents(self, query: str, k: int | None) -> list[Document]:
        options = self.options if k is None else replace(self.options, k=k)
        return [
            Document(
                id=hit_id(self.library, hit), page_content=hit.passage.readable, metadata=hit_metadata(hit)
            )
            for hit in self.library.search(query, options)
        ]
