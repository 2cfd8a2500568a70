"""`train label`: a reader's scores for questions and the passages found for them, see `reader.labels`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanwise.types import ProgressCallback, no_progress

from ...corpora.datasets.ranking_examples import read_ranking_examples
from ...corpora.sentences import sentence_spans
from ...models.precision import pick_device
from ...reader.labels import LabelStore, label_pairs
from ...reader.load import load_reader
from ...reader.spans import Pair
from .folder_groups import item_context, mine_folders, mined_questions
from .mining import PARTS
from .model_card import RUN

BEST = 8  # passages of a question
Found = tuple[str, Sequence[tuple[str, str]]]
"""A question, and context and text of passages, best first."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The number of labels in the folder, that of new ones, and the tokens read for these in `seconds`."""

    labels: int
    new: int
    tokens: int
    seconds: float


def label(
    out: Path,
    reader: str,
    folders: Path | None = None,
    lists: Path | None = None,
    best: int = BEST,
    mined: Path | None = None,
    on_progress: ProgressCallback = no_progress,
) -> Labelled:
    """Writes the reader's labels for the `best` passages of each question to `out`; known ones are kept.

    The questions are those about `folders`, as for `train_reader`, or of `lists`, a folder of `mine`.
    `mined` keeps the passages that are found for the former, by default in `out`. ValueError unless one of
    the two is given; ModelMismatch when `out` has the labels of another reader.
    """
    if (folders is None) == (lists is None):
        raise ValueError("labels need either folders with questions or lists of passages")
    loaded = load_reader(reader, pick_device().type)
    store = LabelStore.open(out, loaded.digest)
    found = (
        list_questions(lists)
        if lists
        else folder_questions(folders or Path(), mined or out / RUN, on_progress)
    )
    began = time.perf_counter()
    new, tokens = label_pairs(loaded, store, pairs_of(found, best), sentence_spans, on_progress)
    return Labelled(len(store), new, tokens, time.perf_counter() - began)


def pairs_of(found: Iterable[Found], best: int) -> Iterator[Pair]:
    """Each question with each of its `best` first passages."""
    for question, passages in found:
        for context, text in passages[:best]:
            yield Pair(question, context, text)


def list_questions(lists: Path) -> Iterator[Found]:
    """The questions of both parts of a folder of `mine`; their passages have the context in the text."""
    for part in PARTS:
        for one in read_ranking_examples(lists / part):
            yield one.question, [("", text) for text in one.passages]


def folder_questions(folders: Path, run: Path, on_progress: ProgressCallback) -> Iterator[Found]:
    """The questions about folders in all their wordings, with their own passage and those that are found."""
    mine_folders(folders, run, on_progress)
    for mined in mined_questions(folders, run):
        item = mined.item
        others = [passage for passage in mined.rankings[0] if passage[1] != item.passage]
        yield item.question, [(item_context(item), item.passage), *others]
