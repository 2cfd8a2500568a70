"""A collection that is large enough gets an approximate index with its sync; here a very small one does."""

import pytest

from spanwise.index.ann import ApproximateIndex
from spanwise.index.store import Store
from spanwise.pipelines.open import open


@pytest.fixture
def small_enough(monkeypatch, folder):
    """Codes are made from twenty vectors on, and there are so many."""
    for n in range(20):
        (folder / f"{n}.txt").write_text(
            f"Lock {n} was dug by the crew of year {1800 + n}.", encoding="utf-8"
        )
    approximate = Store.approximate
    monkeypatch.setattr(Store, "approximate", lambda store, on_progress: approximate(store, 20, on_progress))


def test_a_sync_makes_an_approximate_index_that_an_exact_search_ignores(small_enough, folder, encoder_folder):
    told = []
    with open(folder, model=str(encoder_folder)) as library:
        library.sync(on_progress=lambda *step: told.append(step))
        assert ("approximate", library.snapshot.n_passages, library.snapshot.n_passages) in told
        assert isinstance(library.retriever("dense")._index, ApproximateIndex)
        approximate = library.search("who built the mill?", retriever="dense")
        exact = library.search("who built the mill?", retriever="dense", exact=True)
        assert all(best.score >= hit.score for best, hit in zip(exact, approximate, strict=True))
