"""Plug-ins at work: in searching, asking and writing, from code and from the command line."""

from __future__ import annotations

import json

import pytest
from made_plugins import GENERATOR, POINTS, SHOUTED, install
from scripted_reader import Flat, Scripted, read_by

from spanwise.errors import PluginFailed
from spanwise.pipelines import code_state
from spanwise.pipelines.library import Library
from spanwise.pipelines.open import open_index
from spanwise.pipelines.summarizing.generators import writing_of
from spanwise.types import Filter, Hit

MODULES = {"made_plugin": SHOUTED, "made_generator": GENERATOR}
QUESTION = "Who built the mill?"


@pytest.fixture
def plugged(site, library, monkeypatch) -> Library:
    """A library beside which a package with plug-ins is installed."""
    install(site, {group: POINTS[group] for group in POINTS if group != "spanwise.parsers"}, MODULES)
    library.encoder = Flat()
    return library


class Backwards:
    """Ranks by place, the last first."""

    digest: str | None = "backwards 1"

    def __init__(self, passages) -> None:
        self.passages = list(passages.all_passages())

    def search(self, questions, k, among=None):
        hits = [Hit(one, float(at), 1) for at, one in enumerate(self.passages)]
        return [hits[-k:] for _ in questions]


def documents(hits) -> list[str]:
    return [hit.passage.document_id for hit in hits]


def test_a_retriever_of_a_package_searches(plugged):
    hits = plugged.search(QUESTION, k=2, retriever="longest", dedupe=False)
    assert [hit.scores for hit in hits] == [{"longest": float(len(hit.passage.text))} for hit in hits]
    assert len(hits[0].passage.text) >= len(hits[1].passage.text) > 0


def test_it_fuses_is_reranked_and_filtered_like_any_other(plugged):
    assert plugged.search(QUESTION, k=1, retriever="bm25+longest")[0].scores.keys() >= {"bm25", "longest"}
    found = plugged.search(QUESTION, k=5, retriever="longest", where=Filter(paths=("*.txt",)))
    assert documents(found) == ["tram.txt"]


def test_a_reader_of_a_package_answers(plugged):
    answer = plugged.ask(QUESTION, k=1, retriever="bm25", reader="first-word")
    assert (answer.best.short.text, answer.confidence, answer.threshold) == ("#", None, None)


def test_a_retriever_and_a_reader_given_in_code(library, monkeypatch):
    read_by(library, monkeypatch)
    library.use_retriever("backwards", Backwards)
    library.use_reader("scripted", Scripted(("ten minutes", 2.0, 0.0)))
    assert documents(library.search("x", k=9, retriever="backwards", dedupe=False))[0] == "tram.txt"
    answer = library.ask("How often does the tram run?", retriever="backwards", reader="scripted")
    assert answer.best.short.text == "ten minutes"
    explained = library.explain("How often does the tram run?", retriever="backwards", reader="scripted")
    assert [stage.stage for stage in explained.ranks] == ["backwards"]


def test_a_summary_gathers_by_a_retriever_and_is_written_by_a_generator_of_a_package(plugged):
    summary = plugged.summarize(QUESTION, retriever="longest", k=1, writing=writing_of("echo"))
    assert summary.generator == "echo"
    assert summary.retriever == "longest"
    assert summary.sentences[0].citations


def test_why_not_looks_through_it(plugged):
    fate = plugged.why_not("tram.txt", "When does the tram run?", retriever="longest", reader="first-word")
    assert "longest" in str(fate)


@pytest.mark.parametrize("use", ["use_retriever", "use_reader"])
@pytest.mark.parametrize("name", ["bm25+mine", "Mine", ""])
def test_what_is_no_name_is_refused(library, use, name):
    with pytest.raises(ValueError, match="cannot be the name"):
        getattr(library, use)(name, Backwards)


def test_built_in_names_are_not_given_away(library):
    for name in ("bm25", "hybrid", "colbert"):
        with pytest.raises(ValueError, match="built in"):
            library.use_retriever(name, Backwards)
    with pytest.raises(ValueError, match="built in"):
        library.use_reader("builtin", Scripted())


def test_a_broken_one_is_named_and_all_others_go_on(site, library):
    install(
        site, {"spanwise.retrievers": {"bad": "made_bad:R", "worse": "made_none:R"}}, {"made_bad": "R = 3"}
    )
    for name, why in (("bad", "cannot be called"), ("worse", "cannot be loaded"), ("bm25+bad", "cannot be")):
        with pytest.raises(PluginFailed, match=rf"of made-plugins 1\.0 .*{why}"):
            library.search(QUESTION, retriever=name)
    assert documents(library.search(QUESTION, k=1, retriever="bm25")) == ["mill.md"]


def test_an_unknown_retriever_lists_plugins_too(plugged):
    with pytest.raises(ValueError, match="colbert, longest, or different ones joined by"):
        plugged.search(QUESTION, retriever="shortest")


def test_a_retriever_put_in_anothers_place_is_used_at_once(library):
    library.use_retriever("mine", Backwards)
    before = documents(library.search("x", k=1, retriever="mine"))
    library.use_retriever("mine", lambda passages: First(passages))
    assert documents(library.search("x", k=1, retriever="mine")) != before


class First(Backwards):
    """Ranks by place, the first first, and does not say what it depends on."""

    digest = None

    def search(self, questions, k, among=None):
        return [[Hit(self.passages[0], 1.0, 1)] for _ in questions]


def test_what_names_all_it_depends_on_is_remembered_and_nothing_else(library):
    library.use_retriever("named", Backwards)
    library.use_retriever("unnamed", First)
    kept = {}
    for name in ("named", "unnamed"):
        before = library._cache.entries().get("answer", 0)
        library.search("x", k=1, retriever=name)
        kept[name] = library._cache.entries().get("answer", 0) - before
    assert kept == {"named": 1, "unnamed": 0}


def test_another_digest_is_another_answer(library):
    library.use_retriever("mine", Backwards)
    library.search("x", k=1, retriever="mine")
    other = type("Other", (First,), {"digest": "first 2"})
    library.use_retriever("mine", other)
    assert documents(library.search("x", k=1, retriever="mine")) == ["mill.md"]


def hits_of_cache(library) -> int:
    """How often a search for the longest passage was found in the cache, of two."""
    before = library._cache.looks()["answer"].hits if "answer" in library._cache.looks() else 0
    for _ in range(2):
        library.search(QUESTION, k=1, retriever="longest")
    return library._cache.looks()["answer"].hits - before


def test_what_a_package_found_is_remembered_until_its_files_change(site, plugged, monkeypatch):
    monkeypatch.setattr(code_state, "_BEGAN_NS", 1 << 62)
    assert hits_of_cache(plugged) == 1
    with open_index(plugged.store.path) as again:
        assert hits_of_cache(again) == 2
    (site / "made_plugin.py").write_text(SHOUTED + "\n# changed\n")
    with open_index(plugged.store.path) as again:
        assert hits_of_cache(again) == 1


def test_a_package_that_changed_while_this_process_runs_is_not_trusted(plugged, monkeypatch):
    monkeypatch.setattr(code_state, "code_state", lambda: "the code")
    assert hits_of_cache(plugged) == 0


def test_the_command_line_takes_them_by_name(plugged, run, monkeypatch):
    index = plugged.store.path
    code, out, _ = run("search", QUESTION, "--index", index, "--retriever", "bm25+longest", "--json")
    assert (code, json.loads(out)["retriever"]) == (0, "bm25+longest")
    code, out, _ = run(
        *("summarize", "--document", "tram.txt", "--index", index, "--generator", "echo", "--json")
    )
    assert (code, json.loads(out)["generator"]) == (0, "echo")
    monkeypatch.setattr("spanwise.models.dual_encoder.load_encoder", lambda name: Named())
    code, out, _ = run(
        *("ask", QUESTION, "--index", index, "--retriever", "bm25", "--reader", "first-word", "--json")
    )
    assert (code, json.loads(out)["answer"]["short"]["text"]) == (0, "#")


class Named(Flat):
    digest, width = "flat", 1


def test_the_command_line_names_the_package_of_a_broken_one_in_one_line(site, library, run):
    install(site, {"spanwise.retrievers": {"bad": "made_none:R"}})
    code, out, err = run("search", QUESTION, "--index", library.store.path, "--retriever", "bad")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(
        "spanwise: the plug-in 'bad' of made-plugins 1.0 (spanwise.retrievers) cannot be loaded"
    )


def test_a_reader_that_cannot_be_made_is_named_each_time(site, library):
    install(site, {"spanwise.readers": {"bad": "made_bad:R"}}, {"made_bad": "def R(): 1 / 0"})
    library.encoder = Flat()
    for _ in range(2):
        with pytest.raises(PluginFailed, match=r"of made-plugins 1\.0 .* cannot be made: ZeroDivisionError"):
            library.ask(QUESTION, retriever="bm25", reader="bad")
