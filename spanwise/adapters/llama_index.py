"""A library as a retriever of LlamaIndex."""

from __future__ import annotations

import asyncio

from spanwise import Library
from spanwise.adapters.metadata import PLACE, hit_id, hit_metadata
from spanwise.errors import needing
from spanwise.types import Hit, SearchOptions

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
    """Returns the hits of `Library.search`, in that order, as nodes of LlamaIndex.

    `start_char_idx` and `end_char_idx` of a node count code points of the document's stored text;
    `ref_doc_id` is the document's id. A language model sees where a node is from. Embeddings see no metadata.
    Close the library yourself.

    library: an open library
    options: how passages are ranked, as for `Library.search`
    """

    def __init__(self, library: Library, options: SearchOptions | None = None) -> None:
        super().__init__()
        self._library = library
        self._options = options or SearchOptions()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._library.search(query_bundle.query_str, self._options)
        return [node_of(self._library, hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def node_of(library: Library, hit: Hit) -> NodeWithScore:
    """A hit as a node of LlamaIndex."""
    passage = hit.passage
    metadata = hit_metadata(hit)
    node = TextNode(
        id_=hit_id(library, hit),
        text=passage.readable,
        start_char_idx=passage.start,
        end_char_idx=passage.end,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=[key for key in metadata if key not in PLACE],
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.document_id)},
    )
    return NodeWithScore(node=node, score=hit.score)
