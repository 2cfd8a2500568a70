"""T4: an index of another format is refused by name; tests/index/test_golden.py opens one of today's."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from workload import make_index

from spanwise.errors import FormatTooNew, FormatTooOld, IndexCorrupt
from spanwise.index import Store


@pytest.mark.smoke
def test_other_formats_are_refused_by_name(memory) -> None:
    index = make_index(memory / "index", 1)
    for pragma, change, error in (
        ("user_version", 1, FormatTooNew),
        ("user_version", -1, FormatTooOld),
        ("application_id", 1, IndexCorrupt),
    ):
        copy = shutil.copytree(index, memory / f"{pragma} {change}")
        with closing(sqlite3.connect(copy / "catalog.sqlite")) as catalog:
            (value,) = catalog.execute(f"PRAGMA {pragma}").fetchone()
            catalog.execute(f"PRAGMA {pragma} = {value + change}")
        with pytest.raises(error, match=r"format|not the catalog"):
            Store.open(copy)
