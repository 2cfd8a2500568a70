"""Approximate dense search: its recall, when its codes are made again, and its cache on disk."""

import random
import shutil

import numpy as np
import pytest
from helpers.corpora import MODEL, Corpus, stage, vector_of
from helpers.passage_rows import NOBODY, collection, exact_ids, places, vectors_in
from workload import complaints, flipped, truncated

from spanwise.index import ann
from spanwise.index.ann import CACHE, ApproximateIndex, code_problems, read_codes, remove_codes, renewed
from spanwise.index.dense import VectorIndex
from spanwise.index.segment import write_segment

SMALL = collection(3200, 16)
VECTORS = collection(6000)
QUERIES = collection(60, seed=1)


@pytest.fixture(scope="module")
def codes():
    return renewed(vectors_in(VECTORS[:5000]))


def index_of(codes, deleted=NOBODY, n=5000):
    return ApproximateIndex(vectors_in(VECTORS[:2000], VECTORS[2000:n], deleted=deleted), codes, places)


def recall(rankings, queries, k, allowed=None) -> float:
    pairs = zip(rankings, queries, strict=True)
    hits = sum(len(set(r.passage_ids.tolist()) & set(exact_ids(VECTORS, q, k, allowed))) for r, q in pairs)
    return hits / (k * len(queries))


@pytest.mark.parametrize("n_queries", [4, 60])
def test_an_approximate_search_finds_the_wanted_share_of_the_exact_top_ten(codes, n_queries) -> None:
    allowed = np.arange(1, 5001)
    rankings = index_of(codes).search(QUERIES[:n_queries], 10)
    assert recall(rankings, QUERIES[:n_queries], 10, allowed) >= 0.95


@pytest.mark.parametrize("few", [0, 4096])
@pytest.mark.parametrize("among", [np.arange(3, 6001, 30), np.arange(2500, 5800), np.array([9999])])
def test_a_search_is_confined_to_the_passages_named(codes, among, few, monkeypatch) -> None:
    monkeypatch.setattr(ann, "_MAX_SCORED_DIRECTLY", few)
    rankings = index_of(codes, n=6000).search(QUERIES, 10, among)
    assert all(np.isin(ranking.passage_ids, among).all() for ranking in rankings)
    assert among[0] == 9999 or recall(rankings, QUERIES, 10, among) >= (1.0 if few else 0.95)


@pytest.fixture(scope="module")
def first():
    return renewed(vectors_in(SMALL[:1500]))


def test_a_few_new_and_a_few_deleted_passages_change_nothing(first) -> None:
    assert renewed(vectors_in(SMALL[:1550], deleted=np.arange(1, 200)), first) is None


TEXTS = {f"d{n}": [f"text {n} part {part}" for part in range(10)] for n in range(30)}
ASKED = np.stack([vector_of(f"question {n}") for n in range(5)])


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """An index of 300 vectors with codes."""
    path = tmp_path_factory.mktemp("template") / "index"
    with Corpus(path).store as store:
        with store.writer() as writer:
            stage(writer, TEXTS, vectors=True)
            writer.commit()
        assert store.approximate(at_least=100)
    return path


@pytest.fixture
def corpus(template, tmp_path):
    """A copy of the template, open."""
    corpus = Corpus(shutil.copytree(template, tmp_path / "index"))
    with corpus.store:
        yield corpus


def entry(corpus):
    (folder,) = (corpus.store.path / CACHE).iterdir()
    return folder


def search(store, exact=False):
    with store.snapshot() as snapshot:
        index = snapshot.vectors(MODEL, exact)
        kind = type(index)
        return kind, [(r.passage_ids.tolist(), r.scores.tolist()) for r in index.search(ASKED, 5)]


def test_an_approximate_index_is_made_once_and_only_from_its_size_on(corpus) -> None:
    assert not corpus.store.approximate(at_least=100)
    shutil.rmtree(corpus.store.path / CACHE)
    assert not corpus.store.approximate(at_least=301)
    assert not corpus.store.approximate()
    assert not (corpus.store.path / CACHE).exists()


@pytest.mark.parametrize("how", [flipped, truncated, None])
def test_a_damaged_cache_is_named_passed_over_and_replaced(corpus, how) -> None:
    draw = random.Random(5)
    exact = search(corpus.store, exact=True)
    for name in ("columns.bin", "manifest.json"):
        file = entry(corpus) / name
        if how is None:
            file.unlink()
        else:
            file.write_bytes(how(file.read_bytes(), draw))
        assert search(corpus.store) == exact
        (line,) = complaints(corpus.store.path)
        assert name in line
        assert "rebuilds it" in line
        assert corpus.store.approximate(at_least=100)
        assert search(corpus.store)[0] is ApproximateIndex
        assert complaints(corpus.store.path) == []


def test_codes_of_an_index_that_was_made_anew_are_not_used(corpus, corpus_of) -> None:
    other = corpus_of({})
    with other.store.writer() as writer:
        stage(writer, {"x": [f"another {n}" for n in range(300)]}, vectors=True)
        writer.commit()
    exact = search(other.store)
    shutil.copytree(corpus.store.path / CACHE, other.store.path / CACHE)
    assert search(other.store) == (ApproximateIndex, exact[1])  # every vector is looked at, none has a code


def test_nothing_is_read_or_deleted_behind_a_link(corpus, tmp_path) -> None:
    folder = corpus.store.path / CACHE
    folder.rename(tmp_path / "mine")
    folder.symlink_to(tmp_path / "mine")
    assert search(corpus.store)[0] is VectorIndex
    corpus.write({}, remove=list(TEXTS))
    assert len(list((tmp_path / "mine").iterdir())) == 1


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.rename"])
def test_an_interrupted_writing_costs_speed_alone(corpus, monkeypatch, step) -> None:
    class Killed(BaseException):
        pass

    def die(*names) -> None:
        raise Killed

    exact = search(corpus.store, exact=True)
    remove_codes(corpus.store.path / CACHE, lambda model: True)
    with monkeypatch.context() as patch:
        patch.setattr(step, die)
        with pytest.raises(Killed):
            corpus.store.approximate(at_least=100)
    assert search(corpus.store)[1] == exact[1]
    assert complaints(corpus.store.path) == []
    assert corpus.store.approximate(at_least=100)


@pytest.mark.parametrize(
    "changed",
    [
        {"passage_ids": np.ones(300, np.int64)},
        {"faiss": np.zeros(50, np.uint8)},
        {"search": np.array([0, 20, 300], np.int64)},
        {"search": np.array([3, 2**40, 300], np.int64)},
    ],
)
def test_codes_that_do_not_fit_together_are_ignored(corpus, changed) -> None:
    folder = corpus.store.path / CACHE
    columns = read_codes(folder, MODEL).columns() | changed
    shutil.rmtree(folder)
    folder.mkdir()
    write_segment(folder, "ann", MODEL, columns)
    assert read_codes(folder, MODEL) is None
    assert len(list(code_problems(folder))) == 1
    assert search(corpus.store)[0] is VectorIndex


def test_an_approximate_index_grows_with_its_store(corpus) -> None:
    sizes = []
    for n in range(3):
        with corpus.store.writer() as writer:
            stage(writer, {f"big{n}": [f"big {n} {part}" for part in range(200)]}, vectors=True)
            writer.commit()
        corpus.store.approximate(at_least=100)
        with corpus.snapshot() as snapshot:
            sizes.append(len(snapshot.codes(MODEL).passage_ids))
    assert sizes == [500, 700, 900]
    assert corpus.store.verify() == []
