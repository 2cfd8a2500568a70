"""A library as a retriever of LlamaIndex."""

from __future__ import annotations

import asyncio

from spanwise.errors import needing
from spanwise.types import Hit, SearchOptions

from ..library.library import Library
from .metadata import PLACE, hit_metadata

with needing("llama-index"):
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import (
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )


class SpanwiseRetriever(BaseRetriever):
    """The hits of `Library.search`, in that order, as nodes of LlamaIndex.

    `options` are those of `Library.search`. `start_char_idx` and `end_char_idx` count code points
    of the document's stored text; `ref_doc_id` is the document's id. A language model sees the place of a
    node, an embedding no metadata. You close the library.
    """

    def __init__(self, library: Library, options: SearchOptions | None = None) -> None:
        super().__init__()
        self._library, self._options = library, options or SearchOptions()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._library.search(query_bundle.query_str, self._options)
        return [node_of(hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def node_of(hit: Hit) -> NodeWithScore:
    """A hit as a node of LlamaIndex."""
    passage, metadata = hit.passage, hit_metadata(hit)
    node = TextNode(
        id_=str(passage.id),
        text=passage.text,
        start_char_idx=passage.start,
        end_char_idx=passage.end,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=[key for key in metadata if key not in PLACE],
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.document_id)},
    )
    return NodeWithScore(node=node, score=hit.score)
