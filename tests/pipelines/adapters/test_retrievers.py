"""Every adapter finds what `Library.search` finds: the same hits, order, scores and offsets."""

from __future__ import annotations

import asyncio
import importlib
import sys
from dataclasses import dataclass

import pytest
from haystack import Pipeline
from llama_index.core.schema import QueryBundle

from spanwise.errors import ExtraMissing, IndexEmpty
from spanwise.pipelines.adapters import haystack, langchain, llama_index
from spanwise.types import Filter

QUESTIONS = ["mill", "the weir burned 👩‍🔬", "Who built the mill in 1811?", "𝔘𝔫𝔦", "nothing at all zzz"]
MARKDOWN = {"types": ["md"]}


@dataclass(frozen=True)
class Found:
    """What any adapter says of a hit."""

    text: str
    document: str
    start: int
    end: int
    score: float
    line: int
    heading: str
    passage: str


def expected(library, question, k, **how):
    return [
        Found(
            *(hit.passage.text, hit.passage.document_id, hit.passage.start, hit.passage.end, hit.score),
            *(hit.passage.line, " > ".join(hit.passage.heading), str(hit.passage.id)),
        )
        for hit in library.search(question, k=k, retriever="bm25", **how)
    ]


def found(text, metadata, score, number, start=None, end=None):
    start, end = metadata["start"] if start is None else start, metadata["end"] if end is None else end
    return Found(text, metadata["source"], start, end, score, metadata["line"], metadata["heading"], number)


def by_langchain(library, question, k, where=None, wait=False):
    given = {} if where is None else {"where": Filter(**where)}
    retriever = langchain.SpanwiseRetriever(library=library, k=k, retriever="bm25", **given)
    documents = asyncio.run(retriever.ainvoke(question)) if wait else retriever.invoke(question)
    return [found(one.page_content, one.metadata, one.metadata["score"], one.id) for one in documents]


def by_llama_index(library, question, k, where=None, wait=False):
    retriever = llama_index.SpanwiseRetriever(library, k, "bm25", where=Filter(**where) if where else None)
    nodes = asyncio.run(retriever.aretrieve(question)) if wait else retriever.retrieve(QueryBundle(question))
    places = [(one.node.start_char_idx, one.node.end_char_idx) for one in nodes]
    assert [one.node.ref_doc_id for one in nodes] == [one.metadata["source"] for one in nodes]
    return [
        found(one.text, one.metadata, one.score, one.node_id, *place)
        for one, place in zip(nodes, places, strict=True)
    ]


def by_haystack(library, question, k, where=None, wait=False):
    retriever = haystack.SpanwiseRetriever(library.store.path, k, "bm25", where=where)
    out = asyncio.run(retriever.run_async(question)) if wait else retriever.run(question)
    retriever.close()
    return [found(one.content, one.meta, one.score, one.id) for one in out["documents"]]


ADAPTERS = [by_langchain, by_llama_index, by_haystack]


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_hits_order_scores_and_offsets_are_those_of_the_library(searched, adapter, wait):
    for question in QUESTIONS:
        for k in (1, 5):
            assert adapter(searched, question, k, wait=wait) == expected(searched, question, k), question


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_offsets_cut_the_text_out_of_the_stored_document(searched, adapter):
    hits = adapter(searched, "the mill", 10)
    assert any(hit.document == "hostile.txt" for hit in hits)
    for hit in hits:
        assert searched.document(hit.document).text[hit.start : hit.end] == hit.text


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_filter_confines_what_is_found(searched, adapter):
    hits = adapter(searched, "mill", 5, MARKDOWN)
    assert hits == expected(searched, "mill", 5, where=Filter(**MARKDOWN))
    assert {hit.document for hit in hits} == {"mill.md"}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_k_below_one_and_an_empty_question_are_refused(searched, adapter):
    with pytest.raises(ValueError, match="k is 0"):
        adapter(searched, "mill", 0)
    with pytest.raises(ValueError, match="the question is empty"):
        adapter(searched, " ", 1)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_errors_of_the_library_keep_their_names(adapter, folder):
    import spanwise

    with spanwise.open(folder) as empty, pytest.raises(IndexEmpty, match="holds no passages"):
        adapter(empty, "mill", 1)


@pytest.mark.parametrize(
    ("module", "needed", "extra"),
    [
        ("langchain", "langchain_core.retrievers", "langchain"),
        ("llama_index", "llama_index.core.schema", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_a_framework_that_is_missing_is_named_with_the_command(monkeypatch, module, needed, extra):
    name = f"spanwise.pipelines.adapters.{module}"
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, needed, None)
    with pytest.raises(ExtraMissing, match=rf"pip install 'spanwise\[{extra}\]'"):
        importlib.import_module(name)


def test_a_chain_of_langchain_hands_passages_on(searched):
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnablePassthrough

    retriever = langchain.SpanwiseRetriever(library=searched, k=1, retriever="bm25")
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    joined = retriever | (lambda documents: "\n".join(one.page_content for one in documents))
    chain = {"context": joined, "question": RunnablePassthrough()} | prompt
    said = chain.invoke("Who built the mill in 1811?").to_string()
    assert "built in 1811 by Ada Rook" in said
    batched = retriever.batch(["mill", "tram"])
    assert [documents[0].metadata["source"] for documents in batched] == ["mill.md", "tram.txt"]


def test_a_query_engine_of_llama_index_shows_a_model_the_place_and_no_scores(searched):
    from llama_index.core import get_response_synthesizer
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    engine = RetrieverQueryEngine(
        llama_index.SpanwiseRetriever(searched, 1, "bm25"),
        get_response_synthesizer(llm=MockLLM(), response_mode="compact"),
    )
    response = engine.query("Who built the mill in 1811?")
    assert [node.node.start_char_idx for node in response.source_nodes] == [0]
    assert "by Ada Rook" in str(response)
    assert "source: mill.md" in str(response)
    assert "score" not in str(response)


def test_a_pipeline_of_haystack_is_written_down_and_read_again(searched):
    from haystack.components.builders import PromptBuilder

    pipeline = Pipeline()
    how = {"top_k": 1, "retriever": "bm25", "where": {"types": ("md",)}}
    pipeline.add_component("found", haystack.SpanwiseRetriever(searched.store.path, **how))
    template = "{% for one in documents %}{{ one.content }} [{{ one.meta.source }}]{% endfor %}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents"]))
    pipeline.connect("found.documents", "prompt.documents")
    again = Pipeline.loads(pipeline.dumps(), unsafe=True)
    for each in (pipeline, again):
        said = each.run({"found": {"query": "mill"}})["prompt"]["prompt"]
        assert said.endswith("by Ada Rook. [mill.md]")
        each.get_component("found").close()


def test_an_unknown_condition_of_a_filter_is_named(searched):
    with pytest.raises(ValueError, match="a filter has paths, types, after, before, metadata, not 'type'"):
        haystack.SpanwiseRetriever(searched.store.path, where={"type": "md"})
