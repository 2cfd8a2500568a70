"""The answer cache: the same answer while nothing changed, and never one of another commit or model."""

import sqlite3
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from helpers.scripted_reader import Scripted, read_by

from spanwise.pipelines.library import open_commit
from spanwise.pipelines.library.answer_cache import CACHE_NAME, AnswerCache
from spanwise.pipelines.library.loaded_models import LoadedModels
from spanwise.types import Filter, SearchResult, Spelling

QUESTION = "Who built the mill?"
SCRIPT = ("Ada Rook", 9.0, 0.0)
RESULT = SearchResult((), Spelling("mill?"), "bm25", left_out="2 of 3 shards")
TURN = {"role": "user", "content": "How old is the tram?"}
CHANGES = [
    {"k": 3},
    {"threshold": 0.9},
    {"where": Filter(paths=("*.md",))},
    {"retriever": "tfidf"},
    {"history": [{**TURN, "content": "Who is Ute Falk?"}]},
]


@pytest.fixture
def cached(folder: Path, indexed, monkeypatch):
    monkeypatch.delenv("SPANWISE_NO_CACHE", raising=False)
    with indexed(folder) as library:
        read_by(library, monkeypatch, SCRIPT)
        yield library


def ask(library, question=QUESTION, **changes):
    return library.ask(question, **{"retriever": "bm25", **changes})


def test_the_second_answer_is_the_first_from_the_cache(cached):
    first = ask(cached)
    second = ask(cached)
    assert not first.cached
    assert second.cached
    assert replace(second, cached=False, timings_ms=first.timings_ms) == first


@pytest.mark.parametrize("where", [None, Filter(paths=("*.md",))])
def test_results_of_searches_are_cached_too(cached, where):
    first = cached.search("the mlil", retriever="bm25", where=where)
    assert cached.status()["cache"]["answers"] == 1
    second = cached.search("the mlil", retriever="bm25", where=where)
    assert asdict(second) == asdict(first)
    assert second.spelling.question == "the mlil"
    assert second.scope == first.scope
    assert cached.status()["cache"]["answers"] == 1


def test_a_cached_question_is_not_corrected_again(cached, monkeypatch):
    first = cached.search("the mlil", retriever="bm25")
    monkeypatch.setattr(open_commit, "spelling_of", None)
    assert asdict(cached.search("the mlil", retriever="bm25")) == asdict(first)


@pytest.mark.parametrize("change", CHANGES)
def test_every_option_counts(cached, change):
    ask(cached)
    assert not ask(cached, **change).cached
    assert ask(cached, **change).cached


def test_words_of_a_conversation_are_not_written_to_the_file(cached, folder):
    answer = ask(cached, "And the mill?", history=[TURN])
    assert answer.understood == "How old is the mill?"
    assert not ask(cached, "And the mill?", history=[TURN]).cached


def test_the_answer_after_a_failed_model_is_not_kept(cached, tmp_path):
    cache = AnswerCache(tmp_path / CACHE_NAME)
    cache.put("a", "b", replace(ask(cached), failure="the model failed"))
    assert cache.count() == 0


def test_a_new_commit_makes_every_answer_new(cached, folder):
    ask(cached)
    (folder / "new.txt").write_text("The mill was built by Ada Rook, they say.")
    cached.sync(vectors=False)
    assert not ask(cached).cached
    assert cached.status()["cache"]["answers"] == 1


def test_another_model_makes_every_answer_new(cached, monkeypatch):
    ask(cached)
    monkeypatch.setattr(LoadedModels, "digest", lambda *arguments: "other")
    assert not ask(cached).cached


def test_a_users_own_reader_and_several_questions_are_not_cached(cached):
    own = Scripted(SCRIPT)
    for _ in range(2):
        assert not ask(cached, reader=own).cached
        assert not any(answer.cached for answer in cached.ask_many([QUESTION, "mill?"], retriever="bm25"))


def test_questions_are_not_written_to_the_file(cached, folder):
    ask(cached, "Who built the quixotic mill?")
    files = (folder / ".spanwise").glob(f"{CACHE_NAME}*")
    assert not any(b"quixotic" in file.read_bytes() for file in files)


def test_a_damaged_file_is_replaced(cached, folder):
    path = folder / ".spanwise" / CACHE_NAME
    ask(cached)
    cached.close()
    path.write_bytes(b"not a database" * 1000)
    cache = AnswerCache(path)
    assert cache.get(SearchResult, "key", "", None) is None
    assert cache.count() == 0
    assert cache.fault == ""


def test_a_changed_value_is_not_returned(tmp_path):
    cache = AnswerCache(tmp_path / CACHE_NAME)
    cache.put("key", "commit", RESULT)
    assert asdict(cache.get(SearchResult, "key", "mill?", None)) == asdict(RESULT)
    cache.close()
    with sqlite3.connect(tmp_path / CACHE_NAME) as database:
        database.execute("UPDATE results SET value = replace(value, 'shards', 'shelves')")
    assert cache.get(SearchResult, "key", "", None) is None


def test_a_locked_file_costs_nothing_but_the_result(tmp_path):
    cache = AnswerCache(tmp_path / CACHE_NAME)
    cache.put("one", "commit", RESULT)
    with sqlite3.connect(tmp_path / CACHE_NAME) as other:
        other.execute("BEGIN EXCLUSIVE")
        cache.put("two", "commit", RESULT)
        assert "locked" in cache.fault
        other.rollback()
    assert cache.count() == 1
