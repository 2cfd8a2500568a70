"""T22: of five planted copies of a passage, stuffed with the question's words, one is in the top ten.

Each copy is a passage that does not answer the question, edited by one word, with the question before and
after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import numpy as np
import pytest

import spanwise
from spanwise.corpora.squad import read_squad
from spanwise.pipelines.library import Library

SAMPLE = Path(spanwise.__file__).parents[1] / "corpora" / "sample"
N_COPIES, N_QUESTIONS, K = 5, 20, 10
RETRIEVERS = ["tfidf", "bm25", "dense", "hybrid", "colbert"]
EDITS = ("north", "south", "east", "west", "middle")
BODY = (
    "The ropewalk on the {} quay was let to a maker of nets, who kept his yarn in the loft above it and "
    "paid a rent of two barrels of tar at Michaelmas. His daughter sold twine from the window."
)


@pytest.fixture(scope="module")
def questions() -> list[str]:
    data = read_squad(SAMPLE / "questions.json")
    asked = [q.text for article in data.articles for p in article.paragraphs for q in p.questions]
    return asked[:N_QUESTIONS]


def make_poisoned(root: Path, questions: list[str], vectors: bool) -> Library:
    for file in sorted((SAMPLE / "docs").rglob("*.*")):
        (root / file.name).write_bytes(file.read_bytes())
    for number, question in enumerate(questions):
        for copy, edit in enumerate(EDITS):
            stuffed = f"{question} {BODY.format(edit)} {question}"
            (root / f"planted-{number:02}-{copy}.txt").write_text(stuffed)
    library = spanwise.open(root)
    if vectors:
        library.use_colbert("builtin")
    library.sync(vectors=vectors)
    return library


@pytest.fixture(scope="module")
def poisoned(questions: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with make_poisoned(tmp_path_factory.mktemp("poisoned"), questions, vectors=True) as library:
        yield library


def places(library: Library, questions: list[str], retriever: str, group: bool) -> list[int]:
    """For each question how many of its ten places its own planted copies take."""
    found = library.search_many(questions, k=K, retriever=retriever, dedupe=group)
    return [
        sum(hit.passage.document_id.startswith(f"planted-{number:02}") for hit in hits)
        for number, hits in enumerate(found)
    ]


@pytest.mark.smoke
def test_planted_copies_take_one_place_by_words(questions, tmp_path) -> None:
    with make_poisoned(tmp_path, questions[:3], vectors=False) as library:
        assert max(places(library, questions[:3], "bm25", True)) <= 1


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_planted_copies_take_one_place(retriever, poisoned, questions, record) -> None:
    with_groups, without = (places(poisoned, questions, retriever, group) for group in (True, False))
    assert max(with_groups) <= 1
    assert mean(without) > 1  # the attack works where nothing stops it
    share = np.array([mean(without), mean(with_groups)]) / K
    figure = f"top ten taken by {N_COPIES} planted copies, {retriever}"
    record("T22", figure, f"{share[0]:.0%} ungrouped, {share[1]:.0%} grouped")
