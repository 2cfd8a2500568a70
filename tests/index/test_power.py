"""Kills, full disks and readers beside a writer, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from spanwise.errors import IndexReadOnly, StorageFull
from spanwise.index import Store

WRITE_FOR_EVER = """
import sys
from pathlib import Path
from spanwise.index import FileState, Store
from spanwise.types import Document, Passage

store = Store.open(Path(sys.argv[1]))
with store.snapshot() as snapshot:
    number = snapshot.generation
while True:
    number += 1
    with store.writer(timeout_s=10) as writer:
        for name in (f"d{number % 4}", "stamp"):
            text = f"generation {number}"
            passages = [Passage(0, name, 0, len(text), text)]
            state = FileState(len(text), number, "s")
            writer.put(Document(name, "t", "s", "", text), passages, [["generation", f"n{number}"]], state)
        writer.commit()
    print(number, flush=True)
"""


def check_whole(store, acknowledged) -> int:
    """The generation, after catalog and postings proved to be of one and nothing acknowledged was lost."""
    with store.snapshot() as snapshot:
        assert snapshot.generation >= acknowledged
        assert snapshot.document("stamp").text == f"generation {snapshot.generation}"
        assert len(snapshot.postings().find(f"n{snapshot.generation}")[0]) == 2
        return snapshot.generation


def kill_a_writer(store, delay_s) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOR_EVER, str(store.path)], stdout=subprocess.PIPE, text=True
    )
    with writer:
        first = writer.stdout.readline()
        time.sleep(delay_s)
        writer.kill()
        acknowledged = [int(line) for line in [first, *writer.stdout] if line.endswith("\n")]
    check_whole(store, acknowledged[-1])
    assert store.verify() == []


def test_t1_a_killed_writer_loses_nothing_it_acknowledged(corpus_of) -> None:
    kill_a_writer(corpus_of({}).store, 0.1)


@pytest.mark.stress
def test_t1_a_hundred_kills(corpus_of) -> None:
    store = corpus_of({}).store
    for number in range(100):
        kill_a_writer(store, number * 0.0037)


def test_t5_readers_see_whole_generations_while_a_writer_commits(corpus_of) -> None:
    store = corpus_of({}).store
    arguments = [sys.executable, "-c", WRITE_FOR_EVER, str(store.path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as writer:
        writer.stdout.readline()
        seen = {check_whole(store, 1) for _ in range(30)}
        writer.kill()
    assert max(seen) >= 1


FILL = """
import resource, signal, sys
from pathlib import Path
from spanwise.errors import StorageFull
from spanwise.index import FileState, Store
from spanwise.types import Document, Passage

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
text = "words " * 20000
store = Store.open(Path(sys.argv[1]))
refused = 0
for limit in map(int, sys.argv[2:]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        with store.writer() as writer:
            passages = [Passage(0, "big", 0, len(text), text)]
            terms = [[f"t{n}" for n in range(5000)]]
            writer.put(Document("big", "t", "s", "", text), passages, terms, FileState(1, 1, "s"))
            writer.commit()
    except StorageFull:
        refused += 1
print(refused)
"""


def test_t7_a_full_disk_is_named_and_the_last_commit_stays(corpus_of) -> None:
    corpus = corpus_of({"small": ["words"]})
    limits = ["4096", "20000", "60000", "100000", "110000", "140000"]
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(corpus.store.path), *limits],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == len(limits)
    assert corpus.store.verify() == []
    with corpus.snapshot() as snapshot:
        assert list(snapshot.files()) == ["small"]
    corpus.write({"small": ["more words"]})
    assert len(list((corpus.store.path / "segments").iterdir())) == 1


DETERMINISTIC = """
import sys
from pathlib import Path
from spanwise.index import FileState, Store
from spanwise.types import Document, Passage

with Store.create(Path(sys.argv[1]), {"b": "2", "a": "1"}) as store, store.writer() as writer:
    for number in range(30):
        text = f"w{number % 7} w{number % 3} shared"
        document = Document(f"d{number}", "t", "s", "", text, metadata={"x": "1", "w": "2"})
        passages = [Passage(0, f"d{number}", 0, len(text), text)]
        writer.put(document, passages, [text.split()], FileState(1, 1, "s"))
    writer.commit()
"""


def test_t25_equal_input_gives_equal_bytes_under_any_hash_seed(tmp_path) -> None:
    images = []
    for seed in ("1", "2"):
        path = tmp_path / seed
        subprocess.run(
            [sys.executable, "-c", DETERMINISTIC, str(path)],
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        )
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != "write.lock")
        images.append({str(file.relative_to(path)): file.read_bytes() for file in files})
    assert images[0] == images[1]


def test_errors_of_a_full_disk_have_a_name(tmp_path) -> None:
    import errno

    from spanwise.index.faults import named_faults

    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        with pytest.raises(StorageFull, match="the last commit is intact"), named_faults(tmp_path):
            raise OSError(code, "no room")
    with pytest.raises(IndexReadOnly), named_faults(tmp_path):
        raise PermissionError(errno.EACCES, "no")


def test_the_store_can_be_opened_by_a_second_process(corpus_of) -> None:
    corpus = corpus_of({"a": ["one"]})
    with Store.open(corpus.store.path) as other:
        corpus.write({"a": ["two"]})
        with other.snapshot() as snapshot:
            assert snapshot.generation == 2
