"""Ranking examples from the files a user names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanwise.types import RankingExample

from ...corpora.ranking_examples import read_ranking_examples


def open_examples(path: Path) -> Iterator[RankingExample]:
    """The examples of a `lists.jsonl`, or of a folder with one."""
    return read_ranking_examples(path)
