"""A library as a retriever of LangChain."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

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
    documents; `history` are the messages before the question, as `convert_to_openai_messages` gives them.
    Other arguments that are no fields of `SearchOptions` raise TypeError. Close the library yourself.

    library: an open library
    options: how passages are ranked, as for `Library.search`
    """

    model_config = ConfigDict(extra="forbid")

    library: InstanceOf[Library]
    options: InstanceOf[SearchOptions] = SearchOptions()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **changes: Any
    ) -> list[Document]:
        return self._documents(query, changes)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **changes: Any
    ) -> list[Document]:
        return await asyncio.to_thread(self._documents, query, changes)

    def _documents(self, query: str, changes: dict[str, Any]) -> list[Document]:
        options = replace(self.options, **changes)
        return [
            Document(
                id=hit_id(self.library, hit), page_content=hit.passage.readable, metadata=hit_metadata(hit)
            )
            for hit in self.library.search(query, options)
        ]
