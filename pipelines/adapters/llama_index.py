"""A library as a retriever of LlamaIndex."""

from __future__ import annotations

import asyncio

from spanwise.types import Filter, Hit

from spanwise.errors import needing
from ..library import Library
from ..reranking import DEPTH
from .metadata import PLACES, Search, hit_metadata

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
    """Finds what `Library.search` finds, in that order, as nodes of LlamaIndex.

    The arguments are those of `Library.search`. `start_char_idx` and `end_char_idx` count code points of the
    document's stored text; `ref_doc_id` is the document's id. Metadata are those of `metadata.hit_metadata`;
    a language model is shown the place, and an embedding none of them. `aretrieve` searches in a thread. The
    library stays yours to close.
    """

    def __init__(
        self,
        library: Library,
        k: int = 10,
        retriever: str | None = None,
        group: bool = True,
        where: Filter | None = None,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
    ) -> None:
        super().__init__()
        self._library = library
        self._search = Search(k, retriever, group, where, rerank, rerank_depth)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [node_of(hit) for hit in self._search.hits(self._library, query_bundle.query_str)]

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
        excluded_llm_metadata_keys=[key for key in metadata if key not in PLACES],
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.document_id)},
    )
    return NodeWithScore(node=node, score=hit.score)
