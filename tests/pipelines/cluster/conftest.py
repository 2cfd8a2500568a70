"""Encoders of words in the place of models, and an index that is kept whole and in eight shards."""

from __future__ import annotations

import shutil

import pytest
from made_shards import MeanEncoder, write_notes
from word_encoder import WordEncoder

import spanwise
from spanwise.models import encoder
from spanwise.models import model_files as locate
from spanwise.pipelines.cluster.indexing import split_index

N_SHARDS = 8


@pytest.fixture(scope="module")
def encoders():
    """Puts encoders of words in the place of "base" and "builtin"."""
    known = {"encoder": MeanEncoder("means"), "token-encoder": WordEncoder("words", window=8)}
    digest_of = locate.model_digest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "load_encoder", lambda name: known["encoder"])
        patch.setattr(encoder, "load_token_encoder", lambda name: known["token-encoder"])
        patch.setattr(
            locate,
            "model_digest",
            lambda name, kind="encoder": known[kind].digest if kind in known else digest_of(name, kind),
        )
        yield known


@pytest.fixture(scope="module")
def pair(tmp_path_factory, encoders):
    """An index, the same one in eight shards, and questions: 2,000 passages."""
    root = tmp_path_factory.mktemp("pair")
    questions = write_notes(root / "notes", 500, 560)
    with spanwise.open(root / "notes", root / "one", model="base", colbert="builtin", cache=False) as one:
        one.sync()
    shutil.copytree(root / "one", root / "eight")
    split_index(root / "eight", N_SHARDS)
    with (
        spanwise.open_index(root / "one", cache=False) as one,
        spanwise.open_index(root / "eight", cache=False) as eight,
    ):
        yield one, eight, questions
