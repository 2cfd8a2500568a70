"""A library as a retriever of Haystack."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from spanwise import Library, open_index
from spanwise.adapters.metadata import hit_id, hit_metadata
from spanwise.errors import needing

with needing("haystack"):
    from haystack import Document, component


@component
class SpanwiseRetriever:
    """Returns the hits of `Library.search`, in that order, as documents of Haystack.

    `warm_up` or the first run opens the index. A document has the id of `hit_id` and the
    metadata of `hit_metadata`. Saved pipelines load with `allowed_modules=["spanwise"]`.

    index: the directory of an index, or a folder with one
    top_k: number of documents
    options: fields of `SearchOptions` by name
    """

    def __init__(self, index: str | Path, top_k: int = 10, options: dict[str, Any] | None = None) -> None:
        self.index = str(index)
        self.top_k = top_k
        self.options = options or {}
        self._library: Library | None = None

    def warm_up(self) -> None:
        """Open the index."""
        self._library = self._library or open_index(self.index)

    def close(self) -> None:
        """Close the index; the next run opens it again."""
        if self._library is not None:
            self._library.close()
            self._library = None

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, history: list[dict[str, str]] | None = None
    ) -> dict[str, list[Document]]:
        """The best passages for a question, best first.

        `history` are the messages before it, each as `ChatMessage.to_openai_dict_format` gives it.
        """
        self.warm_up()
        assert self._library is not None
        options = self.options | ({"history": history} if history else {})
        k = self.top_k if top_k is None else top_k
        documents = [
            Document(
                id=hit_id(self._library, hit),
                content=hit.passage.readable,
                meta=hit_metadata(hit),
                score=hit.score,
            )
            for hit in self._library.search(query, k=k, **options)
        ]
        return {"documents": documents}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, top_k: int | None = None, history: list[dict[str, str]] | None = None
    ) -> dict[str, list[Document]]:
        """The same as `run`, computed in a thread."""
        return await asyncio.to_thread(self.run, query, top_k, history)
