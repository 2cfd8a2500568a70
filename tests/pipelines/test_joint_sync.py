"""A sync makes both kinds of vectors in one go where their models share a transformer, and the same ones."""

from __future__ import annotations

import numpy as np
import pytest

import spanwise
from spanwise.models import joint_encoder
from spanwise.models.token_encoder import TokenEncoder
from spanwise.pipelines import token_sync

QUESTION = "who opened the tram?"


@pytest.fixture
def apart(monkeypatch):
    """Syncs dense vectors and tokens one after the other."""
    return lambda: monkeypatch.setattr(joint_encoder, "joined", lambda encoder, tokens: None)


@pytest.fixture
def encoded(monkeypatch):
    """The texts of passages that the token encoder and the joint one were given."""
    heard = {"tokens": [], "both": []}

    def listening(kind, encode):
        def call(self, texts, *rest):
            heard[kind] += texts
            return encode(self, texts, *rest)

        return call

    for kind, encoder in (("tokens", TokenEncoder), ("both", joint_encoder.JointEncoder)):
        monkeypatch.setattr(encoder, "encode_passages", listening(kind, encoder.encode_passages))
    return heard


def ranked(library, retriever):
    found = library.search(QUESTION, retriever=retriever, dedupe=False)
    return [(hit.passage.document_id, hit.passage.start) for hit in found], [hit.score for hit in found]


def test_it_is_what_two_goes_make(folder, tmp_path, apart, encoded):
    with spanwise.open(folder, tmp_path / "one", model="dpr", colbert="builtin") as library:
        report = library.sync()
        one = {name: ranked(library, name) for name in ("dense", "colbert")}
        assert (library.missing_vectors(), library.missing_tokens()) == (0, 0)
    assert report.encoded_tokens == report.passages == len(encoded["both"])
    assert not encoded["tokens"]
    apart()
    with spanwise.open(folder, tmp_path / "two", model="dpr", colbert="builtin") as library:
        assert library.sync().encoded_tokens == report.passages
        for name, (places, scores) in one.items():
            assert ranked(library, name)[0] == places
            assert np.allclose(ranked(library, name)[1], scores, rtol=1e-2)


def test_tokens_that_come_later_are_made_alone(folder, encoded, monkeypatch):
    with spanwise.open(folder, model="dpr") as library:
        n_passages = library.sync().passages
        library.use_colbert("builtin")
        (folder / "owl.md").write_text("# Owls\n\nThey sleep by day.\n")
        assert library.sync().encoded_tokens == n_passages + 1  # the codebook needs a sample of all
        assert (len(encoded["both"]), len(encoded["tokens"])) == (0, n_passages + 1)
        (folder / "rat.md").write_text("# Rats\n\nThey sleep by night.\n")
        assert library.sync().encoded_tokens == 1
        assert (len(encoded["both"]), len(encoded["tokens"])) == (1, n_passages + 1)


def test_an_interruption_loses_nothing(folder, encoded, monkeypatch):
    monkeypatch.setattr(token_sync, "SAMPLED", 2)
    monkeypatch.setattr(token_sync, "PASSAGES_PER_COMMIT", 1)

    def stop(stage, n_done, total):
        if stage == "tokens" and n_done == total:
            raise KeyboardInterrupt

    with spanwise.open(folder, model="dpr", colbert="builtin") as library:
        with pytest.raises(KeyboardInterrupt):
            library.sync(on_progress=stop)
        assert (library.missing_vectors(), library.missing_tokens()) == (1, 1)
        assert library.sync().encoded_tokens == 1
        assert len(set(encoded["both"])) == len(library.passages())
