"""A collection that is large enough gets an approximate index with its sync; here a very small one does."""

from __future__ import annotations

import json

import pytest

from spanwise.index.ann import ApproximateIndex
from spanwise.index.store import Store
from spanwise.pipelines.open import open, open_index


@pytest.fixture
def small_enough(monkeypatch, folder):
    """Codes are made from twenty vectors on, and there are so many."""
    for n in range(20):
        (folder / f"{n}.txt").write_text(
            f"Lock {n} was dug by the crew of year {1800 + n}.", encoding="utf-8"
        )
    approximate = Store.approximate
    monkeypatch.setattr(
        Store, "approximate", lambda store, recall, report: approximate(store, recall, 20, report)
    )


def index_of(library):
    return library.retriever("dense")._index


def test_a_sync_makes_it_and_exact_passes_it_over(small_enough, folder, encoder_folder):
    told = []
    with open(folder, model=str(encoder_folder)) as library:
        library.sync(on_progress=lambda *step: told.append(step))
        assert ("approximate", library.snapshot.n_passages, library.snapshot.n_passages) in told
        assert isinstance(index_of(library), ApproximateIndex)
        approximate = scores_of(library.search("who built the mill?", retriever="dense"))
        exact = scores_of(library.search("who built the mill?", retriever="dense", exact=True))
        assert all(one >= other for one, other in zip(exact, approximate, strict=True))


def scores_of(hits):
    return [hit.score for hit in hits]


def test_its_recall_is_kept_with_the_index(folder):
    with open(folder) as library:
        assert library.recall == 0.98
        library.recall = 0.9
    with open_index(folder) as library:
        assert library.recall == 0.9
        with pytest.raises(ValueError, match="above 0 and below 1, not 1"):
            library.recall = 1


def test_the_command_line_sets_the_recall_tells_it_and_searches_exactly(
    small_enough, run, folder, encoder_folder
):
    assert run("index", folder, "--model", encoder_folder, "--recall", 0.9)[0] == 0
    record = json.loads(run("status", "--index", folder, "--json")[1])["approximate"][0]
    assert record["wanted"] == 0.9
    assert record["vectors"] >= 20
    assert "0.900 wanted" in run("status", "--index", folder)[1]
    question = ("search", "who built the mill?", "--index", folder, "--retriever", "dense", "--json")
    with open_index(folder) as library:
        expected = scores_of(library.search("who built the mill?", retriever="dense", exact=True))
    code, out, _ = run(*question, "--exact")
    assert (code, [hit["score"] for hit in json.loads(out)["hits"]]) == (0, expected)


def test_a_recall_that_is_no_share_is_refused_in_one_line(run, folder):
    code, _, err = run("index", folder, "--lexical-only", "--recall", 1.5)
    assert code in (1, 2)
    assert "below 1" in err
    assert "Traceback" not in err
