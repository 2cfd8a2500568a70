"""`spanwise serve` before it serves: where the token comes from, and what is missing."""

from __future__ import annotations

import importlib.util

import pytest

from spanwise.pipelines.cli import serve

TOKEN = "a token of nineteen"


def test_the_token_of_the_file_goes_before_that_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SPANWISE_SERVE_TOKEN", "another of the environment")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert serve._token(tmp_path / "token") == TOKEN
    assert serve._token(None) == "another of the environment"


def test_an_empty_token_file_is_told(tmp_path):
    (tmp_path / "token").write_text("\n")
    with pytest.raises(ValueError, match="holds no token"):
        serve._token(tmp_path / "token")


def test_a_missing_extra_is_told_in_one_line(library, run, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else find(name))
    code, out, err = run("serve", "--index", library.store.path)
    assert (code, out) == (1, "")
    assert err == "spanwise: serving needs uvicorn: pip install 'spanwise[serve]'\n"
