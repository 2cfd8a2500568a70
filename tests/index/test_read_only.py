"""Readers need to write nothing: an index on a read-only medium answers, one that cannot says why."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from helpers.corpora import stage

from spanwise.index.store import Store

# Nobody's rights, since permissions do not hold back root.
READ = """
import os, sys
from pathlib import Path
from spanwise.errors import IndexReadOnly
from spanwise.index.store import Store

def read(path):
    with Store.open(path) as store, store.snapshot() as snapshot:
        passages = snapshot.passages(snapshot.passage_ids())
        return snapshot.generation, [passage.text for passage in passages], store.verify()

Store.create(Path(sys.argv[2]), {}).close()
read(Path(sys.argv[2]))  # loads what nobody may not
if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(65534)
try:
    print(*read(Path(sys.argv[1])))
except IndexReadOnly as error:
    print(error)
"""


@pytest.fixture
def place():
    """A folder that other users can reach, with an index of one document in it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        index = Path(folder) / "index ?#%41"
        with Store.create(index, {}) as store, store.writer() as writer:
            stage(writer, {"a": ["some words"]})
            writer.commit()
        yield index
        for path in (index, *index.rglob("*")):
            path.chmod(0o755)


def forbid_writing(index) -> None:
    for path in (*index.rglob("*"), index):
        path.chmod(0o555 if path.is_dir() else 0o444)


def read(index, other) -> str:
    """What a reader without rights prints; `other` is a place for an index that it makes before."""
    arguments = [sys.executable, "-c", READ, str(index), str(other)]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.strip()


def test_an_index_that_cannot_be_written_answers(place, tmp_path) -> None:
    before = sorted(place.rglob("*"))
    forbid_writing(place)
    assert read(place, tmp_path / "other") == "1 ['some words'] []"
    assert sorted(place.rglob("*")) == before


def test_a_log_that_cannot_be_read_in_is_named(place, tmp_path) -> None:
    with Store.open(place) as store, store.writer() as writer:
        stage(writer, {"b": ["more words"]})
        writer.commit()
        shutil.copytree(place, tmp_path / "copy")  # as a kill leaves it: with its log, not shared memory
    for file in (tmp_path / "copy").iterdir():
        if file.is_file() and not file.name.endswith("-shm"):
            shutil.copy(file, place / file.name)
    forbid_writing(place)
    answer = read(place, tmp_path / "other")
    assert "catalog.sqlite cannot be opened" in answer
    assert "['some words']" not in answer
