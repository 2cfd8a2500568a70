"""Ranking examples from any place a user names, and into any form that others read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from spanwise.types import RankingExample

from ...corpora.collections.ranking_colbert import write_colbert
from ...corpora.collections.ranking_dpr import write_dpr_examples
from ...corpora.collections.ranking_folder import write_ranking_folder
from ...corpora.collections.ranking_formats import RankingData, Tell, ranking_data
from ...eval.ranking.qrels import read_qrels

Form = Literal["lists", "colbert", "dpr"]
WRITERS: dict[Form, Callable[[Path, Iterable[RankingExample]], int]] = {
    "lists": write_ranking_folder,
    "colbert": write_colbert,
    "dpr": write_dpr_examples,
}


def open_examples(
    path: Path, split: str | None = None, tell: Tell = lambda note: None
) -> Iterator[RankingExample]:
    """The examples in a folder or a file, in any form that is known; see `ranking_data`."""
    return open_ranking_data(path, split, tell).examples()


def open_ranking_data(path: Path, split: str | None = None, tell: Tell = lambda note: None) -> RankingData:
    """The examples and all passages in a folder or a file, in any form that is known."""
    return ranking_data(path, read_qrels, split, tell)


def write_examples(path: Path, examples: Iterable[RankingExample], form: str) -> int:
    """Writes examples as a folder of ours, as ColBERT's files or as DPR's file; how many they are."""
    if form not in WRITERS:
        raise ValueError(f"form must be one of {', '.join(WRITERS)}, not {form!r}")
    return WRITERS[form](path, examples)
