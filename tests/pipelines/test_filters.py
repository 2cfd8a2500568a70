"""A filter confines search and ask, in the API and on the command line, and nothing else gets through."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import spanwise
from spanwise.types import Filter, FilterResult

WEIRS = {f"weirs/{n}.md": f"# Weir {n}\n\nThe weir of place {n} was raised by Ada Rook.\n" for n in range(30)}


@pytest.fixture
def many(folder):
    """The folder, with thirty more files on a weir, and one that ranks behind all of them."""
    for name, text in WEIRS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "far.txt").write_text(
        "Far away, among hills and woods and a village, there is a weir too.\n" * 3
    )
    os.utime(folder / "far.txt", (10**9, 10**9))
    return folder


@pytest.fixture
def library(many):
    with spanwise.open(many) as opened:
        opened.sync(vectors=False)
        yield opened


def documents(hits):
    return {hit.passage.document_id for hit in hits}


def test_search_finds_what_ranks_behind_k_others(library):
    where = spanwise.Filter(paths=("far.txt",))
    assert documents(library.search("weir", k=3, retriever="bm25", where=where)) == {"far.txt"}
    assert "far.txt" not in documents(library.search("weir", k=3, retriever="bm25"))


@pytest.mark.parametrize("retriever", ["bm25", "tfidf", "rank_bm25", "bm25+tfidf"])
@pytest.mark.parametrize("group", [True, False])
def test_search_many_gives_k_when_so_many_match(library, retriever, group):
    where = Filter(paths=("weirs/**",), types=("md",))
    for hits in library.search_many(
        ["weir rook", "raised place"], k=25, retriever=retriever, dedupe=group, where=where
    ):
        assert len(hits) == 25
        assert documents(hits) <= set(WEIRS)


def test_a_filter_of_nothing_is_no_filter(library):
    assert library.search("weir", k=5, retriever="bm25", where=Filter()) == library.search(
        "weir", k=5, retriever="bm25"
    )
    assert library.scope(Filter()) == FilterResult(Filter(), 34, 34, library.snapshot.n_passages)


def test_scores_are_those_of_the_whole_collection(library):
    every = {
        hit.passage.id: hit.score for hit in library.search("weir", k=100, retriever="bm25", dedupe=False)
    }
    for hit in library.search(
        "weir", k=100, retriever="bm25", dedupe=False, where=Filter(before="2010-01-01")
    ):
        assert hit.score == every[hit.passage.id]


def test_a_sync_is_seen_by_the_same_filter(library, many):
    where = Filter(paths=("weirs/",))
    assert library.scope(where).documents == 30
    (many / "weirs/0.md").unlink()
    library.sync(vectors=False)
    assert library.scope(where).documents == 29


def test_ask_takes_a_filter(folder, encoder_folder, reader_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        question, options = "Who built the mill?", {"reader": reader_folder, "threshold": 0.0}
        where = Filter(types=("html",))
        answer = library.ask(question, where=where, **options)
        assert answer.best.span.document_id == "sub/weir.html"
        assert [hit.passage.document_id for hit in answer.nearest] == ["sub/weir.html"]
        assert library.ask_many([question], where=where, **options)[0].text == answer.text
        assert library.ask(question, where=Filter(paths=("x",)), **options).no_answer
        assert library.ask(question, **options).scope is None


def test_the_dense_index_looks_at_the_allowed_alone(many, encoder_folder):
    with spanwise.open(many, model=encoder_folder) as library:
        library.sync()
        for retriever in ("dense", "hybrid"):
            hits = library.search(
                "weir", k=20, retriever=retriever, where=Filter(paths=("far.txt", "mill.md"))
            )
            assert documents(hits) == {"far.txt", "mill.md"}
        among = np.array([1, 2, 3])
        assert {hit.passage.id for hit in library.retriever("dense").search(["x"], 9, among)[0]} == {1, 2, 3}


def search(run, folder, *options):
    return run("search", "weir", "--index", folder, "--retriever", "bm25", *options)


def test_search_options_make_the_filter_and_json_names_it(run, many):
    run("index", many, "--lexical-only")
    options = ("--path", "*.txt", "--path", "!tram*", "--type", "txt", "--before", "2010-01-01")
    code, out, err = search(run, many, *options, "--meta", "encoding=utf-8", "--json")
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert list(record) == ["question", "retriever", "hits", "filter"]
    assert [hit["document"] for hit in record["hits"]] == ["far.txt"]
    assert record["filter"] == {
        "paths": ["*.txt", "!tram*"],
        "types": ["txt"],
        "after": None,
        "before": "2010-01-01",
        "metadata": {"encoding": "utf-8"},
        "documents": 1,
        "of_documents": 34,
        "passages": 1,
    }


def test_a_search_of_nothing_says_so_on_stderr_and_is_no_error(run, many):
    run("index", many, "--lexical-only")
    assert search(run, many, "--path", "nowhere/") == (
        0,
        "nothing found\n",
        "the filter matches 0 of 34 documents\n",
    )
    code, out, _ = search(run, many, "--after", "2999-01-01", "--json")
    assert (code, json.loads(out)["hits"], json.loads(out)["filter"]["documents"]) == (0, [], 0)


def test_ask_of_nothing_says_what_the_filter_left(run, folder, encoder_folder, reader_folder):
    run("index", folder, "--model", encoder_folder)
    question = ("ask", "who?", "--index", folder, "--reader", reader_folder, "--path", "nowhere/")
    code, out, _ = run(*question)
    assert code == 0
    assert out.startswith("not in these documents\n  the filter matches 0 of 3 documents\n")
    assert "0 passages in 0 of 3 documents" in out
    record = json.loads(run(*question, "--json")[1])
    assert (record["answer"], record["searched"]["passages"]) == (None, 0)
    assert (record["filter"]["paths"], record["filter"]["documents"]) == (["nowhere/"], 0)


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--type", "docx"), 1, "no document is of type 'docx'; the types here are html, md, txt"),
        (("--meta", "tag=x"), 1, "no document has metadata 'tag'; the keys here are"),
        (("--meta", "language"), 2, "'language' is not KEY=VALUE"),
        (("--meta", "a=1", "--meta", "a=2"), 2, "'a' is given twice"),
        (("--after", "soon"), 2, "invalid date 'soon'"),
        (("--path", ""), 2, "attern"),
        (("--path", "' OR 1=1; --"), 0, ""),
    ],
)
def test_a_wrong_filter_is_one_line(run, many, options, code, says):
    run("index", many, "--lexical-only")
    got, _, err = search(run, many, *options)
    assert (got, says in err, err.count("\n")) == (code, True, 1)
