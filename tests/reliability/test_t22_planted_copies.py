"""T22: of five planted copies of a passage, stuffed with the question's words, one is in the top ten.

Each copy is a passage that does not answer the question, edited by one word, with the question before and
after it.
"""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from statistics import mean

import pytest

import spanwise
from spanwise.corpora.squad import read_squad
from spanwise.pipelines.library import Library

SAMPLE = Path(spanwise.__file__).parents[1] / "corpora" / "sample"
K = 10
EDITS = ("north", "south", "east", "west", "middle")
BODY = (
    "The ropewalk on the {} quay was let to a maker of nets, who kept his yarn in the loft above it and "
    "paid a rent of two barrels of tar at Michaelmas. His daughter sold twine from the window."
)


def places(library: Library, questions: list[str], retriever: str, dedupe: bool) -> list[int]:
    """For each question how many of its ten places its own planted copies take."""
    found = library.search_many(questions, k=K, retriever=retriever, dedupe=dedupe)
    return [
        sum(hit.passage.document_id.startswith(f"planted-{number:02}") for hit in hits)
        for number, hits in enumerate(found)
    ]


@pytest.mark.times(3, 20)
def test_planted_copies_take_one_place(tmp_path, record, times) -> None:
    root = copytree(SAMPLE / "docs", tmp_path / "docs")
    paragraphs = [p for a in read_squad(SAMPLE / "questions.json").articles for p in a.paragraphs]
    questions = [question.question for p in paragraphs for question in p.questions][:times]
    for number, question in enumerate(questions):
        for copy, edit in enumerate(EDITS):
            stuffed = f"{question} {BODY.format(edit)} {question}"
            (root / f"planted-{number:02}-{copy}.txt").write_text(stuffed)
    dense = ["dense", "hybrid", "colbert"] if times > 3 else []
    with spanwise.open(root) as library:
        if dense:
            library.use_colbert("builtin")
        library.sync(vectors=bool(dense))
        for retriever in ("tfidf", "bm25", *dense):
            grouped, ungrouped = (places(library, questions, retriever, dedupe) for dedupe in (True, False))
            assert max(grouped) <= 1
            assert mean(ungrouped) > 1  # the attack works where nothing stops it
            figure = f"top ten taken by {len(EDITS)} planted copies, {retriever}"
            value = f"{mean(ungrouped) / K:.0%} ungrouped, {mean(grouped) / K:.0%} grouped"
            record("T22", figure, value)
