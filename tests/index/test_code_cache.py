"""The cache of codes: found, checked, passed over when it is not as it was written, and cleared away."""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from damage import complaints, flipped, scrambled, truncated, zeroed
from made_corpora import MODEL, stage, vector_of

from spanwise.errors import StorageFull
from spanwise.index import Store, code_cache
from spanwise.index.approximate_index import ApproximateIndex
from spanwise.index.code_cache import CACHE, code_problems, read_codes
from spanwise.index.vector_index import VectorIndex

TEXTS = {f"d{n}": [f"text {n} part {part}" for part in range(10)] for n in range(30)}
QUERIES = np.stack([vector_of(f"question {n}") for n in range(5)])


@pytest.fixture
def corpus(corpus_of):
    """300 vectors with codes."""
    corpus = corpus_of({})
    with corpus.store.writer() as writer:
        stage(writer, TEXTS, vectors=True)
        writer.commit()
    assert corpus.store.approximate(at_least=100)
    return corpus


def entry(corpus):
    (found,) = (corpus.store.path / CACHE).iterdir()
    return found


def found(store, exact=False):
    with store.snapshot() as snapshot:
        index = snapshot.vectors(MODEL, exact)
        kind = type(index)
        return kind, [(r.passage_ids.tolist(), r.scores.tolist()) for r in index.search(QUERIES, 5)]


def test_codes_are_used_unless_exact_search_is_asked_for(corpus) -> None:
    assert found(corpus.store)[0] is ApproximateIndex
    assert found(corpus.store, exact=True)[0] is VectorIndex
    assert complaints(corpus.store.path) == []


def test_nothing_is_made_below_the_size_or_twice(corpus) -> None:
    assert not corpus.store.approximate(at_least=100)
    shutil.rmtree(corpus.store.path / CACHE)
    assert not corpus.store.approximate(at_least=301)
    assert not corpus.store.approximate()
    assert not (corpus.store.path / CACHE).exists()


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5])
def test_a_recall_that_is_no_share_is_refused(corpus, share) -> None:
    with pytest.raises(ValueError, match=f"above 0 and below 1, not {share}"):
        corpus.store.approximate(share)


@pytest.mark.parametrize("how", [flipped, truncated, zeroed, scrambled, None])
def test_a_damaged_cache_is_named_passed_over_and_replaced(corpus, how) -> None:
    draw, exact = random.Random(5), found(corpus.store, exact=True)
    for name in ("columns.bin", "manifest.json"):
        file = entry(corpus) / name
        if how is None:
            file.unlink()
        else:
            file.write_bytes(how(file.read_bytes(), draw))
        assert found(corpus.store) == exact
        (line,) = complaints(corpus.store.path)
        assert name in line
        assert "makes it again" in line
        assert corpus.store.approximate(at_least=100)
        assert found(corpus.store)[0] is ApproximateIndex
        assert complaints(corpus.store.path) == []


def test_every_flipped_bit_of_a_column_is_detected(corpus) -> None:
    file, draw = entry(corpus) / "columns.bin", random.Random(3)
    whole = file.read_bytes()
    for _ in range(20):
        file.write_bytes(flipped(whole, draw))
        assert read_codes(corpus.store.path / CACHE, MODEL) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ends", lambda codes: codes.ends[::-1].copy()),
        ("ends", lambda codes: codes.ends + 1),
        ("ends", lambda codes: np.concatenate([[-5], codes.ends[1:]])),
        ("passage_ids", lambda codes: np.ones_like(codes.passage_ids)),
        ("codes", lambda codes: np.zeros((len(codes.codes), 3), np.uint8)),
        ("tuning", lambda codes: replace(codes.tuning, n_lists=0)),
        ("tuning", lambda codes: replace(codes.tuning, candidates=2**40)),
        ("quantizer", lambda codes: replace(codes.quantizer, centroids=codes.quantizer.centroids * np.inf)),
        ("quantizer", lambda codes: replace(codes.quantizer, codebooks=codes.quantizer.codebooks[:16])),
    ],
)
def test_codes_that_make_no_sense_are_passed_over(corpus, field, value) -> None:
    folder = corpus.store.path / CACHE
    codes = read_codes(folder, MODEL)
    with np.errstate(invalid="ignore"):
        code_cache.write_codes(folder, MODEL, replace(codes, **{field: value(codes)}))
    assert read_codes(folder, MODEL) is None
    assert len(list(code_problems(folder))) == 1
    assert found(corpus.store)[0] is VectorIndex


def test_codes_of_a_stranger_propose_but_never_score(corpus) -> None:
    folder, codes = corpus.store.path / CACHE, None
    codes = read_codes(folder, MODEL)
    draw = np.random.default_rng(0)
    made_up = draw.integers(0, 256, codes.codes.shape, dtype=np.uint8)
    code_cache.write_codes(folder, MODEL, replace(codes, codes=made_up))
    exact = dict(zip(*found(corpus.store, exact=True)[1][0], strict=True))
    for number, score in zip(*found(corpus.store)[1][0], strict=True):
        assert exact.get(number, score) == score


def test_codes_of_an_index_that_was_made_anew_are_not_used(corpus, corpus_of) -> None:
    other = corpus_of({})
    with other.store.writer() as writer:
        stage(writer, {"x": [f"another {n}" for n in range(300)]}, vectors=True)
        writer.commit()
    exact = found(other.store)
    shutil.copytree(corpus.store.path / CACHE, other.store.path / CACHE)
    assert found(other.store) == (ApproximateIndex, exact[1])  # every vector is looked at, none has a code


def test_a_reader_goes_on_with_codes_that_were_replaced(corpus) -> None:
    with corpus.snapshot() as snapshot:
        index = snapshot.vectors(MODEL)
        before = [r.passage_ids.tolist() for r in index.search(QUERIES, 5)]
        assert corpus.store.approximate(0.9, at_least=100)
        assert [r.passage_ids.tolist() for r in index.search(QUERIES, 5)] == before
    assert len(list((corpus.store.path / CACHE).iterdir())) == 1


def test_merges_leave_the_codes_as_good_as_they_were(corpus) -> None:
    before = found(corpus.store)
    for n in range(6):
        with corpus.store.writer() as writer:
            stage(writer, {f"e{n}": [f"more {n}"]}, vectors=True)
            writer.commit()
    with corpus.snapshot() as snapshot:
        assert snapshot.vectors(MODEL).n_uncoded == 6
    assert found(corpus.store, exact=True)[1] == found(corpus.store)[1]
    assert before[0] is ApproximateIndex


def test_a_writer_clears_away_what_is_left_over(corpus) -> None:
    folder = corpus.store.path / CACHE
    (folder / ".unfinished").mkdir()
    (folder / ".unfinished" / "columns.bin").write_bytes(b"half")
    (folder / "notes").mkdir()
    assert complaints(corpus.store.path) == []
    kept = entry_names(folder) - {".unfinished"}
    with corpus.store.writer():
        pass
    assert entry_names(folder) == kept
    corpus.write({}, remove=list(TEXTS))
    assert entry_names(folder) == {"notes"}


def entry_names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_nothing_is_read_or_deleted_behind_a_link(corpus, tmp_path) -> None:
    folder = corpus.store.path / CACHE
    folder.rename(tmp_path / "mine")
    folder.symlink_to(tmp_path / "mine")
    assert found(corpus.store)[0] is VectorIndex
    corpus.write({}, remove=list(TEXTS))
    assert len(list((tmp_path / "mine").iterdir())) == 1


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.rename"])
def test_an_interrupted_writing_costs_speed_alone(corpus, monkeypatch, step) -> None:
    class Killed(BaseException):
        pass

    def die(*names) -> None:
        raise Killed

    exact = found(corpus.store, exact=True)
    with monkeypatch.context() as patch:
        patch.setattr(step, die)
        with pytest.raises(Killed):
            corpus.store.approximate(0.9, at_least=100)
    assert found(corpus.store)[1] == exact[1]
    assert complaints(corpus.store.path) == []
    assert corpus.store.approximate(0.9, at_least=100)


def test_a_full_disk_is_named_and_costs_nothing(corpus, monkeypatch) -> None:
    def full(*names) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageFull):
            corpus.store.approximate(0.9, at_least=100)
    assert found(corpus.store)[1] == found(corpus.store, exact=True)[1]


def test_a_store_that_grows_is_kept_up(corpus) -> None:
    sizes = []
    for n in range(3):
        with corpus.store.writer() as writer:
            stage(writer, {f"big{n}": [f"big {n} {part}" for part in range(200)]}, vectors=True)
            writer.commit()
        corpus.store.approximate(at_least=100)
        with corpus.snapshot() as snapshot:
            sizes.append((len(snapshot.codes(MODEL).codes), snapshot.codes(MODEL).trained_on))
    assert sizes == [(500, 300), (700, 700), (900, 700)]
    assert all(one <= other for one, other in pairwise(sizes))
    with Store.open(corpus.store.path) as store:
        assert store.verify() == []
