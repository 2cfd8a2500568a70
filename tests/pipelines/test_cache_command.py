"""The cache on the command line: said when it answered, turned off, cleared, and told by status."""

from __future__ import annotations

import json

import pytest

from spanwise.models import fingerprint


@pytest.fixture
def ask(run, folder, encoder_folder, reader_folder, monkeypatch):
    """Asks the same question about the index of the folder: what `ask` printed."""
    monkeypatch.setattr(fingerprint, "SETTLED_S", 0.0)
    run("index", folder, "--model", encoder_folder)

    def call(*options) -> str:
        given = ("--index", folder, "--reader", reader_folder, "--threshold", 0, *options)
        code, out, _ = run("ask", "Who built the mill?", *given)
        assert code == 0
        return out

    return call


def cache(run, folder) -> dict:
    return json.loads(run("status", "--index", folder, "--json")[1])["cache"]


def test_a_cached_answer_says_so_and_is_the_same(ask):
    first, second = (json.loads(ask("--json")) for _ in range(2))
    assert (first.pop("cached"), second.pop("cached")) == (False, True)
    assert (set(first.pop("timings_ms")), set(second.pop("timings_ms"))) == (
        {"retrieve", "read", "weigh"},
        {"cache"},
    )
    assert first == second
    assert "answered before, cache" in ask()


def test_it_can_be_turned_off(ask, run, folder, monkeypatch):
    ask("--json")
    assert json.loads(ask("--json", "--no-cache"))["cached"] is False
    monkeypatch.setenv("SPANWISE_ASK_CACHE", "0")
    assert json.loads(ask("--json"))["cached"] is False
    monkeypatch.delenv("SPANWISE_ASK_CACHE")
    monkeypatch.setenv("SPANWISE_NO_CACHE", "1")
    assert json.loads(ask("--json"))["cached"] is False
    assert "not in use: it was turned off" in run("status", "--index", folder)[1]


def test_status_tells_what_is_kept_and_index_clears_it(ask, run, folder):
    ask(), ask()
    record = cache(run, folder)
    assert (record["answers"], record["hits"], record["misses"]) == (1, 1, 1)
    assert "1 answers, 1 question vectors" in run("status", "--index", folder)[1]
    run("index", folder, "--clear-cache", "--lexical-only")
    assert cache(run, folder) | {"bytes": 0} == {
        **{"on": True, "fault": "", "answers": 0, "vectors": 0, "bytes": 0},
        **{"hits": 0, "misses": 0, "hit_rate": None, "vector_hits": 0, "vector_misses": 0},
    }


def test_a_file_of_another_program_is_told_and_left_alone(ask, run, folder):
    (folder / ".spanwise" / "cache.sqlite").unlink()
    (folder / ".spanwise" / "cache.sqlite").symlink_to(folder / "mill.md")
    assert json.loads(ask("--json"))["cached"] is False
    assert "not in use: cache.sqlite is not a file of this program" in run("status", "--index", folder)[1]
