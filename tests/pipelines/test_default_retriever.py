"""The default retriever, as it is and as it would be if it needed token vectors."""

from __future__ import annotations

import json

import pytest

import spanwise
from spanwise.errors import IndexEmpty
from spanwise.pipelines import default_retriever as default

QUESTION = "who opened the tram?"


@pytest.fixture(params=["hybrid", "bm25+colbert"])
def named(request, monkeypatch) -> str:
    monkeypatch.setattr(default, "DEFAULT_RETRIEVER", request.param)
    return request.param


@pytest.fixture
def by_tokens(monkeypatch) -> None:
    monkeypatch.setattr(default, "DEFAULT_RETRIEVER", "bm25+colbert")


@pytest.fixture
def old(folder, encoder_folder, words, monkeypatch) -> str:
    """An index that was made when the default needed no token vectors."""
    with monkeypatch.context() as then:
        then.setattr(default, "DEFAULT_RETRIEVER", "hybrid")
        with spanwise.open(folder, model=encoder_folder) as library:
            library.sync()
    return str(folder)


def found_by(run, *options) -> tuple[str, str]:
    code, out, err = run("search", QUESTION, *options, "--json")
    assert code == 0, err
    return json.loads(out)["retriever"], err


def test_a_new_index_has_what_the_default_needs(run, folder, encoder_folder, words, named):
    assert run("index", folder, "--model", encoder_folder)[0] == 0
    assert found_by(run, "--index", folder) == (named, "")


def test_an_index_without_tokens_is_searched_all_the_same(run, old, by_tokens):
    name, err = found_by(run, "--index", old)
    assert name == "hybrid"
    assert "--colbert builtin" in err
    assert "--colbert builtin" in run("status", "--index", old)[1]
    with pytest.raises(IndexEmpty, match="--colbert builtin"), spanwise.open(old) as library:
        library.search(QUESTION, retriever="bm25+colbert")


def test_tokens_are_used_once_they_are_made(run, old, by_tokens):
    assert run("index", "--index", old, "--colbert", "builtin")[0] == 0
    assert found_by(run, "--index", old) == ("bm25+colbert", "")


def test_whoever_wants_none_is_left_alone(run, old, by_tokens):
    assert run("index", "--index", old, "--colbert", "none")[0] == 0
    assert found_by(run, "--index", old) == ("hybrid", "")


def test_a_new_index_can_do_without(run, folder, encoder_folder, words, by_tokens):
    code, _, err = run("index", folder, "--model", encoder_folder, "--colbert", "none")
    assert (code, "dropped" in err, "token vectors made" in err) == (0, False, False)
    assert found_by(run, "--index", folder) == ("hybrid", "")


def test_passages_without_vectors_yet_do_not_stop_a_search(folder, encoder_folder, words, by_tokens):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync(vectors=False)
        assert (library.default_retriever, library.default_advice) == ("hybrid", "")


def test_a_default_that_needs_no_tokens_says_nothing(run, old, monkeypatch):
    monkeypatch.setattr(default, "DEFAULT_RETRIEVER", "hybrid")
    assert found_by(run, "--index", old) == ("hybrid", "")
    assert "--colbert" not in run("status", "--index", old)[1]
