"""Every adapter returns the hits of `Library.search`, with their order, scores and offsets."""

import asyncio
import importlib
import subprocess
import sys

import pytest

import spanwise
from spanwise.errors import ExtraMissing
from spanwise.types import Filter, SearchOptions

HOSTILE = (
    "🂡 e\u0301\r\n\u202e the mill's , ; <b>1,200.50</b> &amp; café 水車\u00a0мельница\u2028 İ ٣\t naïve\n"
    "The mill 👩‍🔬 at the weir burned.\n\n𝔘𝔫𝔦 The mill again\n"
)
QUESTIONS = ["mill", "the weir burned 👩‍🔬", "Who built the mill in 1811?", "𝔘𝔫𝔦", "nothing at all zzz"]


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A library over plain and hostile texts, which no test writes to."""
    folder = tmp_path_factory.mktemp("searched")
    (folder / "hostile.txt").write_text(HOSTILE, encoding="utf-8")
    (folder / "mill.md").write_text("# The mill\n\nThe mill was built in 1811 by Ada Rook.\n")
    (folder / "tram.txt").write_text("The tram runs every ten minutes past the mill.\n")
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
        yield library


def row(text, metadata, score):
    return text, metadata["source"], metadata["start"], metadata["end"], score, metadata["heading"]


def by_langchain(library, question, k, wait, **options):
    from spanwise.adapters import langchain

    retriever = langchain.SpanwiseRetriever(library=library, options=SearchOptions(k, "bm25", **options))
    documents = asyncio.run(retriever.ainvoke(question)) if wait else retriever.invoke(question)
    return [row(doc.page_content, doc.metadata, doc.metadata["score"]) for doc in documents]


def by_llama_index(library, question, k, wait, **options):
    from llama_index.core.schema import QueryBundle

    from spanwise.adapters import llama_index

    retriever = llama_index.SpanwiseRetriever(library, SearchOptions(k, "bm25", **options))
    nodes = asyncio.run(retriever.aretrieve(question)) if wait else retriever.retrieve(QueryBundle(question))
    assert [node.node.start_char_idx for node in nodes] == [node.metadata["start"] for node in nodes]
    return [row(node.text, node.metadata, node.score) for node in nodes]


def by_haystack(library, question, k, wait, **options):
    from spanwise.adapters import haystack

    retriever = haystack.SpanwiseRetriever(library.store.path, k, {"retriever": "bm25", **options})
    out = asyncio.run(retriever.run_async(question)) if wait else retriever.run(question)
    retriever.close()
    return [row(document.content, document.meta, document.score) for document in out["documents"]]


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("adapter", [by_langchain, by_llama_index, by_haystack])
@pytest.mark.parametrize("options", [{}, {"where": Filter(types=("md",))}])
def test_an_adapter_finds_what_the_library_finds(searched, adapter, wait, options):
    for question in QUESTIONS:
        hits = searched.search(question, k=5, retriever="bm25", **options)
        rows = adapter(searched, question, 5, wait, **options)
        assert rows == [
            (p.text, p.document_id, p.start, p.end, hit.score, " > ".join(p.heading))
            for hit in hits
            for p in [hit.passage]
        ]
        for text, document_id, start, end, *_ in rows:
            assert searched.document(document_id).text[start:end] == text


def test_passages_of_two_indexes_have_different_ids_that_stay(tmp_path):
    from spanwise.adapters.metadata import hit_id

    ids = []
    for name in ("north", "south", "north"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "shelf.md").write_text("A shelf holds cable.")
        with spanwise.open(folder) as library:
            library.sync(vectors=False)
            ids += [hit_id(library, hit) for hit in library.search("cable", retriever="bm25")]
    assert ids[0] == ids[2] != ids[1]


def ids_by_langchain(library, question):
    from spanwise.adapters import langchain

    return [document.id for document in langchain.SpanwiseRetriever(library=library).invoke(question)]


def ids_by_llama_index(library, question):
    from spanwise.adapters import llama_index

    return [node.node_id for node in llama_index.SpanwiseRetriever(library).retrieve(question)]


def ids_by_haystack(library, question):
    from spanwise.adapters import haystack

    retriever = haystack.SpanwiseRetriever(library.store.path)
    documents = retriever.run(question)["documents"]
    retriever.close()
    return [document.id for document in documents]


@pytest.mark.parametrize("ids_of", [ids_by_langchain, ids_by_llama_index, ids_by_haystack])
def test_an_adapter_names_a_passage_by_its_place(searched, ids_of):
    from spanwise.adapters.metadata import hit_id

    assert ids_of(searched, "mill") == [hit_id(searched, hit) for hit in searched.search("mill")]


@pytest.mark.parametrize("wait", [False, True])
def test_langchain_gives_k_documents(searched, wait):
    from spanwise.adapters import langchain

    retriever = langchain.SpanwiseRetriever(library=searched)
    found = asyncio.run(retriever.ainvoke("mill", k=1)) if wait else retriever.invoke("mill", k=1)
    assert len(found) == 1


def test_adapters_take_the_messages_before_a_question(searched):
    from haystack.dataclasses import ChatMessage
    from langchain_core.messages import AIMessage, HumanMessage, convert_to_openai_messages

    from spanwise.adapters import haystack, langchain

    question = "Who built the mill?"
    history = [{"role": "user", "content": question}, {"role": "assistant", "content": "I do not know."}]
    expected = [hit.score for hit in searched.search("And the tram?", history=history)]
    messages = convert_to_openai_messages([HumanMessage(question), AIMessage("I do not know.")])
    retriever = langchain.SpanwiseRetriever(library=searched)
    documents = retriever.invoke("And the tram?", history=messages)
    assert [document.metadata["score"] for document in documents] == expected
    turns = [ChatMessage.from_user(question), ChatMessage.from_assistant("I do not know.")]
    component = haystack.SpanwiseRetriever(searched.store.path)
    found = component.run("And the tram?", history=[turn.to_openai_dict_format() for turn in turns])
    component.close()
    assert [document.score for document in found["documents"]] == expected


def test_langchain_refuses_an_unknown_argument(searched):
    from spanwise.adapters import langchain

    with pytest.raises(TypeError, match="top_k"):
        langchain.SpanwiseRetriever(library=searched).invoke("mill", top_k=1)
    with pytest.raises(ValueError, match="top_k"):
        langchain.SpanwiseRetriever(library=searched, top_k=1)


def test_haystack_refuses_an_unknown_option(searched):
    from spanwise.adapters import haystack

    with pytest.raises(TypeError, match="top"):
        haystack.SpanwiseRetriever(searched.store.path, options={"top": 1}).run("mill")


@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("langchain", "langchain_core.retrievers"),
        ("llama_index", "llama_index.core.schema"),
        ("haystack",) * 2,
    ],
)
def test_a_missing_framework_is_named_with_the_command(monkeypatch, module, needed):
    name = f"spanwise.adapters.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, needed, None)
    with pytest.raises(ExtraMissing, match=rf"pip install 'spanwise\[{module.replace('_', '-')}\]'"):
        importlib.import_module(name)


def test_a_query_engine_of_llama_index_shows_a_model_the_place_and_no_scores(searched):
    from llama_index.core import get_response_synthesizer
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from spanwise.adapters import llama_index

    engine = RetrieverQueryEngine(
        llama_index.SpanwiseRetriever(searched, SearchOptions(1, "bm25")),
        get_response_synthesizer(llm=MockLLM(), response_mode="compact"),
    )
    response = str(engine.query("Who built the mill in 1811?"))
    assert "by Ada Rook" in response
    assert "source: mill.md" in response
    assert "score" not in response


@pytest.fixture
def saved(searched) -> str:
    """A saved pipeline of Haystack with the retriever as the component "search"."""
    from haystack import Pipeline

    from spanwise.adapters import haystack

    pipeline = Pipeline()
    options = {"retriever": "bm25"}
    pipeline.add_component("search", haystack.SpanwiseRetriever(str(searched.store.path), 1, options))
    return pipeline.dumps()


def loaded(saved: str) -> tuple[str, str]:
    """The document of the best hit of a saved pipeline, and the pipeline saved again."""
    from haystack import Pipeline

    pipeline = Pipeline.loads(saved, allowed_modules=["spanwise"])
    [document] = pipeline.run({"search": {"query": "mill"}})["search"]["documents"]
    pipeline.get_component("search").close()
    return document.meta["source"], pipeline.dumps()


def test_a_saved_pipeline_of_haystack_loads_where_its_module_is_allowed(saved):
    assert "type: spanwise.adapters.haystack.SpanwiseRetriever" in saved
    assert loaded(saved) == ("mill.md", saved)


def test_importing_the_package_of_adapters_loads_no_framework():
    code = (
        "import sys, spanwise.adapters; print({'haystack', 'langchain_core', 'llama_index'} & {*sys.modules})"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "set()\n"
