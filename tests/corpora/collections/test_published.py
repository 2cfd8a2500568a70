"""The public collections have the counts that their descriptions give; needs SPANWISE_DATA."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwise.corpora.collections import Collection, read_collection
from spanwise.eval.ranking.qrels import read_qrels


def counts(collection: Collection) -> tuple[int, int, int, int]:
    """Documents, queries, judged queries, judgements."""
    n_judgements = sum(map(len, collection.qrels.values()))
    return len(collection.documents), len(collection.queries), len(collection.judged), n_judgements


@pytest.fixture
def published(data: Path, request: pytest.FixtureRequest) -> Collection:
    folder = data / str(request.param)
    if not folder.is_dir():
        pytest.skip(f"SPANWISE_DATA has no {request.param}")
    return read_collection(folder, None, read_qrels)


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ("scifact", (5183, 300, 300, 339)),
        ("glasgow-ir/cran", (1400, 225, 225, 1837)),
        ("glasgow-ir/cacm", (3204, 64, 52, 796)),
        ("glasgow-ir/npl", (11429, 93, 93, 2083)),
        ("vaswani", (11429, 93, 93, 2083)),
    ],
    indirect=["published"],
)
def test_nothing_is_lost(published: Collection, expected: tuple[int, int, int, int]) -> None:
    assert counts(published) == expected
    assert not [line for line in published.lacks if "not there" in line]


@pytest.mark.parametrize("published", ["glasgow-ir/cran"], indirect=True)
def test_cranfield_has_1612_relevant_documents_and_three_damaged_records(published: Collection) -> None:
    assert sum(grade for judged in published.qrels.values() for grade in judged.values()) == 1612
    assert "240, 576, 578" in published.notes[0]
    assert published.lacks == ("documents without text: 2",)


def test_npl_is_the_same_in_both_formats(data: Path) -> None:
    folders = [data / "glasgow-ir/npl", data / "vaswani"]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip("SPANWISE_DATA has no glasgow-ir/npl and vaswani")
    npl, trec = (read_collection(folder, None, read_qrels) for folder in folders)
    assert (npl.documents, npl.qrels) == (trec.documents, trec.qrels)
    assert npl.queries == trec.queries
