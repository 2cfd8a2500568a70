"""Questions on their own paragraphs in any form that is known, told by the name of the file."""

from __future__ import annotations

from pathlib import Path

from .squad import SquadDataset, read_squad
from .subjqa import read_subjqa


def read_gold_paragraphs(path: Path) -> SquadDataset:
    """The data set: SubjQA's where the name ends in .csv or .csv.gz, else SQuAD's."""
    is_table = path.name.removesuffix(".gz").endswith(".csv")
    return read_subjqa(path) if is_table else read_squad(path)
