"""`spanwise serve` before it serves: where the token comes from, and what is missing."""

from __future__ import annotations

import sys

import pytest

from spanwise.pipelines.cli import serve

TOKEN = "a token of nineteen"


def test_the_token_of_the_file_goes_before_that_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SPANWISE_SERVE_TOKEN", "another of the environment")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert serve.token_of(tmp_path / "token") == TOKEN
    assert serve.token_of(None) == "another of the environment"


def test_an_empty_token_file_is_told(tmp_path):
    (tmp_path / "token").write_text("\n")
    with pytest.raises(ValueError, match="holds no token"):
        serve.token_of(tmp_path / "token")


def test_a_missing_extra_is_told_in_one_line(library, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "spanwise.pipelines.serving.server", None)
    code, out, err = run("serve", "--index", library.store.path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.endswith("install it with: pip install 'spanwise[serve]'\n")


def test_an_index_that_holds_nothing_is_told_with_what_fills_it(tmp_path, run, monkeypatch):
    monkeypatch.setattr("spanwise.pipelines.serving.server.serve_library", lambda *given: True)
    code, _, err = run("serve", tmp_path)
    assert (code, err.count("\n")) == (0, 1)
    assert f"holds no passages yet; fill it with: spanwise index --index {tmp_path}/.spanwise" in err
    assert run("serve", tmp_path, "--watch")[2] == ""
