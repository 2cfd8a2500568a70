"""T22: how much of the top ten five planted copies of a passage take, stuffed with the question's words.

Each copy is a passage of the corpus that answers nothing of the question, edited by a word of its own, with
the question in front and behind: five rivals for the best places. Grouped, they may have one of them, and a
summary may cite one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from obedient import Copying

import spanwise
from spanwise.pipelines.evaluation.corpus import read_questions
from spanwise.pipelines.library import Library
from spanwise.pipelines.summarizing.writing import Writing
from spanwise.reader.decoding.settings import preset

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
    return [question.question for question in read_questions(SAMPLE / "questions.json")][:N_QUESTIONS]


@pytest.fixture(scope="module")
def poisoned(questions: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    root = tmp_path_factory.mktemp("poisoned")
    for file in sorted((SAMPLE / "docs").rglob("*.*")):
        (root / file.name).write_bytes(file.read_bytes())
    for number, question in enumerate(questions):
        for copy, edit in enumerate(EDITS):
            stuffed = f"{question} {BODY.format(edit)} {question}"
            (root / f"planted-{number:02}-{copy}.txt").write_text(stuffed)
    with spanwise.open(root) as library:
        library.use_colbert("builtin")
        library.sync()
        yield library


def places(library: Library, questions: list[str], retriever: str, group: bool) -> list[int]:
    """For each question how many of its ten places its own planted copies take."""
    found = library.search_many(questions, k=K, retriever=retriever, dedupe=group)
    return [
        sum(hit.passage.document_id.startswith(f"planted-{number:02}") for hit in hits)
        for number, hits in enumerate(found)
    ]


@pytest.mark.reliability
@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_t22_planted_copies_take_one_place(
    retriever: str, poisoned: Library, questions: list[str], record: Callable[[str, str, str], None]
) -> None:
    with_groups, without = (places(poisoned, questions, retriever, group) for group in (True, False))
    assert max(with_groups) <= 1
    assert mean(without) > 1  # the attack works where nothing stops it
    share = np.array([mean(without), mean(with_groups)]) / K
    figure = f"top ten taken by {N_COPIES} planted copies, {retriever}"
    record("T22", figure, f"{share[0]:.0%} ungrouped, {share[1]:.0%} grouped")


def cited_places(
    library: Library, question: str, number: int, group: bool, copied: bool
) -> tuple[int, int, int]:
    """Of a summary: the places it cites, those of them in planted copies, and the copies that are cited."""
    writing = Writing(Copying(), preset("summary-strict")) if copied else None
    summary = library.summarize(question, writing=writing, strict=True, k=K, retriever="bm25", group=group)
    planted = [one for one in summary.citations if one.span.document_id.startswith(f"planted-{number:02}")]
    return len(summary.citations), len(planted), len({one.span.document_id for one in planted})


@pytest.mark.reliability
@pytest.mark.parametrize("copied", [False, True], ids=["chosen", "copied"])
def test_t22_a_summary_cites_one_planted_copy(
    copied: bool, poisoned: Library, questions: list[str], record: Callable[[str, str, str], None]
) -> None:
    with_groups, without = (
        [cited_places(poisoned, asked, number, group, copied) for number, asked in enumerate(questions)]
        for group in (True, False)
    )
    assert max(copies for _, _, copies in with_groups) <= 1
    how = "copying generator, --strict" if copied else "extractive"
    shares = [
        sum(taken for _, taken, _ in found) / max(1, sum(cited for cited, _, _ in found))
        for found in (without, with_groups)
    ]
    figure = f"places cited by a summary in {N_COPIES} planted copies, {how}"
    record("T22", figure, f"{shares[0]:.0%} ungrouped, {shares[1]:.0%} grouped")
