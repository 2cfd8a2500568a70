"""T4: an index of another format is refused by name, one of today's format answers alike."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from workload import answers, make_index

from spanwise.errors import FormatTooNew, FormatTooOld, IndexCorrupt
from spanwise.index import Store


def set_pragma(index: Path, name: str, change: int) -> None:
    with closing(sqlite3.connect(index / "catalog.sqlite")) as catalog:
        (value,) = catalog.execute(f"PRAGMA {name}").fetchone()
        catalog.execute(f"PRAGMA {name} = {value + change}")


@pytest.mark.smoke
def test_other_formats_are_refused_and_a_copy_answers_alike(memory) -> None:
    index = make_index(memory / "index", 2)
    assert answers(shutil.copytree(index, memory / "copy")) == answers(index)
    for name, change, error in (
        ("user_version", 1, FormatTooNew),
        ("user_version", -1, FormatTooOld),
        ("application_id", 1, IndexCorrupt),
    ):
        copy = shutil.copytree(index, memory / f"{name} {change}")
        set_pragma(copy, name, change)
        with pytest.raises(error, match=r"format|not the catalog"):
            Store.open(copy)
