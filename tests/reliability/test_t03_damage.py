"""T3: whatever happens to a file of an index, it is found and named, and no answer comes from it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from damage import Damage, complaints, files_of, flipped, served, served_or_refused, truncated, zeroed
from made_corpora import Corpus
from workload import HISTORY, commit

from spanwise.index import Store

CATALOG = Path("catalog.sqlite")


@pytest.fixture
def index(memory: Path) -> Path:
    """A closed index with postings, vectors and tombstones."""
    path = memory / "index"
    Corpus(path).store.close()
    for change in HISTORY:
        with Store.open(path) as store:
            commit(store, change)
    return path


def stored(index: Path) -> list[object]:
    """Every value of every row of the catalog, and how the tables are made."""
    with closing(sqlite3.connect(index / CATALOG)) as catalog:
        return list(catalog.iterdump())


def tried(index: Path, copy: Path, file: Path, content: bytes | None) -> Path:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(index, copy)
    if content is None:
        (copy / file).unlink()
    else:
        (copy / file).write_bytes(content)
    return copy


@pytest.mark.parametrize("how", [flipped, truncated, zeroed, None], ids=lambda how: how and how.__name__)
def test_damage_is_detected_and_named(index, memory, record, nightly, how: Damage | None) -> None:
    draw, right, rows = random.Random(11), served(index), stored(index)
    times = {flipped: (10, 200), truncated: (10, 50)}.get(how, (1, 1))[nightly]
    detected = harmless = 0
    for file in files_of(index):
        whole = (index / file).read_bytes()
        for _ in range(times):
            copy = tried(index, memory / "copy", file, how and how(whole, draw))
            found, error = served_or_refused(copy)
            if lines := complaints(copy):
                assert any(file.name in line for line in lines), lines
                assert found in (None, right), file
                detected += 1
            else:  # a bit that SQLite reads nothing from
                assert (file, how) == (CATALOG, flipped)
                assert (found, error) == (right, "")
                assert stored(copy) == rows
                harmless += 1
    name = how.__name__ if how else "deleted"
    more = f", {harmless} in bytes of the catalog that hold nothing" if harmless else ""
    record("T3", f"files {name}: damage detected and named", f"{detected} of {detected + harmless}{more}")


def test_a_damaged_log_gives_an_older_commit_whole_or_nothing(memory, record, nightly) -> None:
    path, draw, last = memory / "index", random.Random(13), memory / "last"
    commits: list[object] = [None]
    with Corpus(path).store as held:  # as long as it is open the log holds the commits
        for change in HISTORY:
            commit(held, change)
            commits.append(served(path))
        shutil.copytree(path, last)
    log = last / "catalog.sqlite-wal"
    times = 500 if nightly else 40
    whole = log.read_bytes()
    for number in range(times):
        copy = tried(last, memory / "copy", Path(log.name), (flipped, truncated)[number % 2](whole, draw))
        found, error = served_or_refused(copy)
        assert found in commits
        assert (found is None) == bool(error)
    record("T3", "damaged logs that serve no mixture of commits", f"{times} of {times}")
