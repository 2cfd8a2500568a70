"""Encoders of words that stand in for models, and an index kept whole and in eight shards."""

import shutil

import pytest
from helpers.notes import write_notes
from helpers.word_encoders import MeanEncoder, WordEncoder

import spanwise
from spanwise.models import encoder, model_files
from spanwise.pipelines.cluster.indexing import split_index

N_SHARDS = 8


@pytest.fixture(scope="module")
def encoders():
    """Encoders of words that stand in for "base" and "builtin"."""
    known = {"encoder": MeanEncoder("means"), "token-encoder": WordEncoder("words", window=8)}
    digest_of = model_files.model_digest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "load_encoder", lambda name: known["encoder"])
        patch.setattr(encoder, "load_token_encoder", lambda name: known["token-encoder"])
        patch.setattr(
            model_files,
            "model_digest",
            lambda name, kind="encoder": known[kind].digest if kind in known else digest_of(name, kind),
        )
        yield known


@pytest.fixture(scope="module")
def pair(tmp_path_factory, encoders):
    """An index, the same one in eight shards, and questions: 480 passages."""
    root = tmp_path_factory.mktemp("pair")
    questions = write_notes(root / "notes", 120, 560)
    for number in range(3):
        (root / "notes" / f"broken{number}.pdf").write_bytes(b"%PDF-1.4 broken")
    with spanwise.open(root / "notes", root / "whole", model="base", colbert="builtin", cache=False) as whole:
        whole.sync()
    shutil.copytree(root / "whole", root / "sharded")
    split_index(root / "sharded", N_SHARDS)
    with (
        spanwise.open_index(root / "whole", cache=False) as whole,
        spanwise.open_index(root / "sharded", cache=False) as sharded,
    ):
        yield whole, sharded, questions
