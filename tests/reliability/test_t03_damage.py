"""T3: damage to any file of an index is found and named, and no answer comes from it. T4: other formats."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from made_corpora import Corpus
from workload import (
    HISTORY,
    Damage,
    answers,
    answers_or_error,
    commit,
    complaints,
    files_of,
    flipped,
    make_index,
    truncated,
    zeroed,
)

from spanwise.errors import FormatTooNew, FormatTooOld, IndexCorrupt
from spanwise.index import Store

CATALOG = Path("catalog.sqlite")


@pytest.fixture(scope="module")
def index(module_memory: Path) -> Path:
    return make_index(module_memory / "index")


def stored(index: Path) -> list[object]:
    """Every value of every row of the catalog, and how the tables are made."""
    with closing(sqlite3.connect(index / CATALOG)) as catalog:
        return list(catalog.iterdump())


def damaged(index: Path, copy: Path, file: Path, how: Damage | None, draw: random.Random) -> Path:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(index, copy)
    if how:
        (copy / file).write_bytes(how((index / file).read_bytes(), draw))
    else:
        (copy / file).unlink()
    return copy


def check_damage(index: Path, copy: Path, how: Damage | None, times: int, n_files: int) -> str:
    """The figure, after each damage proved to be detected and named, or to be in bytes that hold nothing."""
    draw, right, rows = random.Random(11), answers(index), stored(index)
    detected = harmless = 0
    for file in files_of(index)[:n_files]:
        for _ in range(times):
            damaged(index, copy, file, how, draw)
            found, error = answers_or_error(copy)
            if lines := complaints(copy):
                assert any(file.name in line for line in lines), lines
                assert found in (None, right), file
                detected += 1
            else:  # a bit that SQLite does not read
                assert (file, how) == (CATALOG, flipped)
                assert (found, error) == (right, "")
                assert stored(copy) == rows
                harmless += 1
    return f"{detected} of {detected + harmless}" + (f", {harmless} in unused bytes" if harmless else "")


@pytest.mark.smoke
def test_flipped_bits_are_detected_and_named(index, memory) -> None:
    check_damage(index, memory / "copy", flipped, 1, 5)


@pytest.mark.parametrize("how", [flipped, truncated, zeroed, None], ids=lambda how: how and how.__name__)
def test_damage_is_detected_and_named(index, memory, record, nightly, how: Damage | None) -> None:
    times = {flipped: (10, 200), truncated: (10, 50)}.get(how, (1, 1))[nightly]
    figure = check_damage(index, memory / "copy", how, times, 10**9)
    record("T3", f"files {how.__name__ if how else 'deleted'}: damage detected and named", figure)


def test_a_damaged_log_gives_an_older_commit_whole_or_nothing(memory, record, nightly) -> None:
    path, draw, last = memory / "index", random.Random(13), memory / "last"
    commits: list[object] = [None]
    with Corpus(path).store as held:  # as long as it is open the log holds the commits
        for change in HISTORY:
            commit(held, change)
            commits.append(answers(path))
        shutil.copytree(path, last)
    times = 500 if nightly else 40
    for number in range(times):
        how = (flipped, truncated)[number % 2]
        copy = damaged(last, memory / "copy", Path("catalog.sqlite-wal"), how, draw)
        found, error = answers_or_error(copy)
        assert found in commits
        assert (found is None) == bool(error)
    record("T3", "damaged logs that serve no mixture of commits", f"{times} of {times}")


@pytest.mark.smoke
@pytest.mark.promise("T4")
def test_other_formats_are_refused_by_name(index, memory) -> None:
    for pragma, change, error in (
        ("user_version", 1, FormatTooNew),
        ("user_version", -1, FormatTooOld),
        ("application_id", 1, IndexCorrupt),
    ):
        copy = shutil.copytree(index, memory / f"{pragma} {change}")
        with closing(sqlite3.connect(copy / CATALOG)) as catalog:
            (value,) = catalog.execute(f"PRAGMA {pragma}").fetchone()
            catalog.execute(f"PRAGMA {pragma} = {value + change}")
        with pytest.raises(error, match=r"format|not the catalog"):
            Store.open(copy)
