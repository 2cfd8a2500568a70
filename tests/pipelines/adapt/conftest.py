"""A small corpus, and models whose quality is known: they see so many words of a passage."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from made_adaptation import write_corpus
from word_encoder import WordEncoder

import spanwise
from spanwise.errors import ModelNotFound
from spanwise.models import fingerprint, token_encoder, token_models

SEES = {"worse": 4, "builtin": 12, "same": 12, "better": 100}


@pytest.fixture(scope="session")
def indexed(tmp_path_factory) -> Path:
    """The documents with the words of an index."""
    root = write_corpus(tmp_path_factory.mktemp("indexed") / "notes")
    with spanwise.open(root, cache=False) as library:
        library.sync(vectors=False)
    return root


@pytest.fixture
def corpus(indexed, tmp_path) -> Path:
    return shutil.copytree(indexed, tmp_path / "notes")


@pytest.fixture
def loaded(monkeypatch) -> dict[str, WordEncoder]:
    """Puts encoders of words in the place of models of tokens; a folder says in its settings what it sees."""
    known: dict[str, WordEncoder] = {}

    def load(name: str) -> WordEncoder:
        if name not in known:
            kind = "builtin" if name == "builtin" else _settings(name)["kind"]
            known[name] = WordEncoder(digest(name), SEES[kind])
        return known[name]

    def digest(name: str) -> str:
        text = name if name == "builtin" else json.dumps(_settings(name))
        return hashlib.sha256(text.encode()).hexdigest()

    monkeypatch.setattr(token_encoder, "load_token_encoder", load)
    monkeypatch.setattr(token_models, "absolute_token_name", lambda name: name)
    monkeypatch.setattr(token_models, "token_model_digest", digest)
    monkeypatch.setattr(fingerprint, "token_model_fingerprint", digest)
    return known


def _settings(name: str) -> dict[str, str]:
    try:
        return json.loads((Path(name) / "settings.json").read_text())
    except OSError as error:
        raise ModelNotFound(name) from error


@pytest.fixture
def library(corpus, loaded):
    with spanwise.open(corpus, colbert="builtin", cache=False) as library:
        library.sync_tokens()
        yield library
