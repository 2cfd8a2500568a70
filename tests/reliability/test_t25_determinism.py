"""T25: one folder gives one index, byte for byte, in whatever order and with whatever hashes it is read."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import spanwise
from spanwise.index.catalog import Catalog

FILES = {
    f"{name}{number}.md": f"# {name}\n\n{name} {number} mill\n" for name in "dbca" for number in range(5)
}
SYNC = "import sys, spanwise; spanwise.open(sys.argv[1], sys.argv[2]).sync(vectors=False)"


def make_folder(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(FILES[name])
        os.utime(folder / name, ns=(1, 1))
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "notes", sorted(FILES))


def image_of(index: Path) -> tuple[dict[str, bytes], list[object]]:
    """The bytes of every segment, and all that the catalog holds but the folder's place."""
    files = {
        str(path.relative_to(index)): path.read_bytes()
        for path in (index / "segments").rglob("*.*")
        if path.is_file()
    }
    catalog = Catalog.open(index / "catalog.sqlite")
    try:
        tables = [catalog.rows("SELECT * FROM documents"), catalog.rows("SELECT * FROM passages")]
        return files, [*tables, catalog.segments()]
    finally:
        catalog.close()


def synced(folder: Path, index: Path, workers: int | None = None) -> tuple[dict[str, bytes], list[object]]:
    with spanwise.open(folder, index) as library:
        library.sync(vectors=False, workers=workers)
    return image_of(index)


def test_two_runs_under_two_hash_seeds(notes, tmp_path) -> None:
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", SYNC, str(notes), str(tmp_path / seed)]
        subprocess.run(command, check=True, env=environment)
    assert image_of(tmp_path / "1") == image_of(tmp_path / "2")


def test_one_process_that_reads_and_three(notes, tmp_path) -> None:
    assert synced(notes, tmp_path / "1", workers=1) == synced(notes, tmp_path / "3", workers=3)


@pytest.mark.smoke
def test_files_made_and_listed_in_another_order(notes, tmp_path, monkeypatch) -> None:
    scandir, draw = os.scandir, random.Random(7)

    @contextmanager
    def shuffled(folder):
        with scandir(folder) as entries:
            listed = list(entries)
        draw.shuffle(listed)
        yield iter(listed)

    first = synced(notes, tmp_path / "1")
    monkeypatch.setattr(os, "scandir", shuffled)
    other = make_folder(tmp_path / "other", sorted(FILES, reverse=True))
    assert synced(other, tmp_path / "2") == first
