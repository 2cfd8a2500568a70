"""T24: whatever was done to an index, it ranks like one built from the same documents at once.

T25: one folder gives one index, byte for byte, in whatever order and with whatever hashes it is read.
"""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from crashes import Child, Say, run
from helpers.corpora import stage
from helpers.rankings import WORDS, check_maxsim, encode, fresh_build, rankings
from helpers.scans import FakeEngine, scan_of
from hypothesis import settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test as run_lives,
)
from workload import Change, commit, commit_and_die

import spanwise
from spanwise import Library
from spanwise.corpora import folder as walking
from spanwise.index.catalog import Catalog
from spanwise.index.store import Store

LETTERS = st.sampled_from("abcdefgh")
PASSAGES = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=4)
DOCUMENTS = st.dictionaries(LETTERS, PASSAGES, max_size=4)
DENSE_TOLERANCE = 1e-3
RECALL = 0.9  # of late interaction, by codes of a codebook that grew with the index


def stored(store: Store) -> dict[str, list[str]]:
    with store.snapshot() as snapshot:
        texts: dict[str, list[str]] = {name: [] for name in snapshot.files()}
        for passage in snapshot.passages(snapshot.passage_ids()):
            texts[passage.document_id].append(passage.text)
        return texts


class Life(RuleBasedStateMachine):
    """An index and, as its model, a dictionary of documents."""

    memory: Path | None = None  # where indexes are made

    @initialize()
    def make(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=Life.memory))
        self.store = Store.create(self.folder / "index", {})
        self.held: dict[str, list[str]] = {}

    @rule(documents=DOCUMENTS)
    def add_or_update(self, documents: dict[str, list[str]]) -> None:
        commit(self.store, Change(documents))
        self.held |= documents

    @rule(documents=DOCUMENTS)
    def add_and_encode_later(self, documents: dict[str, list[str]]) -> None:
        with self.store.writer() as writer:
            stage(writer, documents)
            writer.commit()
        encode(self.store)
        self.held |= documents

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.held)))
        commit(self.store, Change(remove=[name]))
        del self.held[name]

    @precondition(lambda self: self.held)
    @rule(data=st.data(), new=LETTERS)
    def rename(self, data: st.DataObject, new: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.held)))
        texts = self.held.pop(old)
        commit(self.store, Change({new: texts}, remove=[old]))
        self.held[new] = texts

    @rule(name=LETTERS, passages=PASSAGES)
    def edit_often(self, name: str, passages: list[str]) -> None:
        """Enough small commits that segments merge."""
        for number in range(4):
            commit(self.store, Change({name: [*passages, f"w{number}"]}))
        self.held[name] = [*passages, "w3"]

    @rule(documents=DOCUMENTS, last=st.integers(0, 40))
    def crash(self, documents: dict[str, list[str]], last: int) -> None:
        """A writer is killed: its commit is there whole or not at all."""
        end = run(commit_and_die, self.store.path, Change(documents), last)
        assert end.code in (0, -signal.SIGKILL)
        documents_now = stored(self.store)
        assert documents_now in (self.held, self.held | documents)
        self.held = documents_now

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.folder / "index")

    @rule()
    def ranks_like_a_fresh_build(self) -> None:
        path = self.folder / "fresh"
        shutil.rmtree(path, ignore_errors=True)
        lived = rankings(self.store)
        fresh = fresh_build(path, self.held)
        dense = [scores.pop("dense", []) for scores in (lived, fresh)]
        assert lived == fresh
        for (places, scores), (fresh_places, fresh_scores) in zip(*dense, strict=True):
            assert places == fresh_places
            assert np.allclose(scores, fresh_scores, rtol=0, atol=DENSE_TOLERANCE)
        assert check_maxsim(self.store) >= RECALL

    def teardown(self) -> None:
        try:
            self.ranks_like_a_fresh_build()
            assert self.store.verify() == []
        finally:
            self.store.close()
            shutil.rmtree(self.folder)


@pytest.mark.times(3, 100, 2000)
def test_any_life_ranks_like_a_fresh_build(memory, record, monkeypatch, times) -> None:
    monkeypatch.setattr(Life, "memory", memory)
    lives = settings(max_examples=times, stateful_step_count=10 if times == 3 else 40, deadline=None)
    run_lives(Life, settings=lives)
    record("T24", "lives of an index that rank like a fresh build", f"{times}")


PLACES = ("a/b/x.md", "a/b/y.md", "a/z.md", "c/x.md", "c/d/w.md")


def edit(folder: Path, closed: set[Path], draw: random.Random) -> None:
    """Write, delete or move a file, or empty, delete, close or open the folder that it is in."""
    path = folder / draw.choice(PLACES)
    match draw.choice(("write", "write", "delete", "move", "empty", "drop", "close", "open")):
        case "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"The mill of {draw.choice(WORDS)}.\n")
        case "delete":
            path.unlink(missing_ok=True)
        case "move" if path.exists():
            other = folder / draw.choice(PLACES)
            other.parent.mkdir(parents=True, exist_ok=True)
            path.rename(other)
        case "empty" | "drop" as how:
            shutil.rmtree(path.parent, ignore_errors=True)
            if how == "empty":
                path.parent.mkdir(parents=True)
        case "close":
            closed.add(path.parent)
        case "open":
            closed.discard(path.parent)


def is_listed(path: Path, closed: set[Path]) -> bool:
    """False below a folder that is closed to its reader."""
    return closed.isdisjoint(path.parents)


def is_out_of_reach(path: Path, closed: set[Path]) -> bool:
    """True if the nearest folder above that is there is closed, or holds no file that is listed."""
    nearest = next(above for above in path.parents if above.is_dir())
    files = (below for below in nearest.rglob("*") if below.is_file())
    return not any(is_listed(file, closed) for file in files)


@pytest.mark.times(15, 150, 1500)
def test_any_edits_of_a_folder_delete_only_what_is_gone(tmp_path, record, monkeypatch, times) -> None:
    draw = random.Random(times)
    folder = tmp_path / "notes"
    folder.mkdir()
    closed: set[Path] = set()
    opened_folder = walking._opened_folder

    def opened_unless_closed(root: Path, place: PurePosixPath) -> AbstractContextManager[int]:
        if root / place in closed:  # permissions mean nothing to an administrator
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened_folder(root, place)

    monkeypatch.setattr(walking, "_opened_folder", opened_unless_closed)
    held: dict[str, str] = {}
    n_kept = 0
    with spanwise.open(folder, tmp_path / "index") as library:
        for _ in range(times):
            for _ in range(draw.randint(1, 3)):
                edit(folder, closed, draw)
            listed = [path for path in folder.rglob("*.md") if is_listed(path, closed)]
            texts = {str(path.relative_to(folder)): path.read_text() for path in listed}
            arrived = {text for name, text in texts.items() if held.get(name) != text}
            gone = held.keys() - texts.keys()
            kept = {
                name for name in gone if held[name] not in arrived and is_out_of_reach(folder / name, closed)
            }
            held = texts | {name: held[name] for name in kept}
            assert library.sync(vectors=False, workers=1).kept == len(kept)
            assert {name: library.document(name).text for name in library.snapshot.files()} == held
            n_kept += len(kept)
        assert library.sync(vectors=False, accept_deletions=True).kept == 0
    assert n_kept
    record("T24", "edits of a folder after which the index holds what a model says", f"{times}")


NAMES = [f"{name}{number}.md" for name in "abcd" for number in range(5)]
SYNC = """
import sys, spanwise
spanwise.open(sys.argv[1], sys.argv[2]).sync(vectors=False, workers=int(sys.argv[3]))
"""


def make_folder(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"# {name[0]}\n\n{name} mill\n")
        os.utime(folder / name, ns=(1, 1))
    return folder


def image_of(index: Path) -> tuple[dict[str, bytes], list[object]]:
    """The bytes of every segment, and what the catalog holds but the places of the folder and its files."""
    files = {str(path.relative_to(index)): path.read_bytes() for path in index.glob("segments/*/*")}
    catalog = Catalog.open(index / "catalog.sqlite")
    documents = [{**row, "stamp": ""} for row in catalog.rows("SELECT * FROM documents")]
    tables = [documents, catalog.rows("SELECT * FROM passages")]
    named = catalog.segments()
    catalog.close()
    assert files
    return files, [*tables, named]


@pytest.mark.promise("T25")
def test_two_hash_seeds_with_one_process_and_three(tmp_path) -> None:
    notes = make_folder(tmp_path / "notes", NAMES)
    for seed, workers in (("1", "1"), ("2", "3")):
        command = [sys.executable, "-c", SYNC, str(notes), str(tmp_path / seed), workers]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed})
    assert image_of(tmp_path / "1") == image_of(tmp_path / "2")


@pytest.mark.smoke
@pytest.mark.promise("T25")
def test_files_made_and_listed_in_another_order(tmp_path, monkeypatch) -> None:
    scandir = os.scandir
    draw = random.Random(7)

    @contextmanager
    def shuffled(folder):
        with scandir(folder) as entries:
            listed = list(entries)
        draw.shuffle(listed)
        yield iter(listed)

    for number, names in enumerate((NAMES, NAMES[::-1])):
        folder = make_folder(tmp_path / f"notes{number}", names)
        with spanwise.open(folder, tmp_path / f"index{number}") as library:
            library.sync(vectors=False)
        monkeypatch.setattr(os, "scandir", shuffled)
    assert image_of(tmp_path / "index0") == image_of(tmp_path / "index1")


def texts_below(folders: Iterable[Path]) -> list[str]:
    return sorted(path.read_text() for folder in folders for path in folder.rglob("*.md"))


def come_or_go(library: Library, folder: Path, unplugged: Path, draw: random.Random) -> None:
    """Plug a folder in or out, add it, or drop it while all others are there."""
    indexed = [root.folder for root in library.roots]
    if not folder.exists():
        (unplugged / folder.name).rename(folder)
    elif folder not in indexed:
        library.add([folder])
    elif draw.random() < 0.6:
        folder.rename(unplugged / folder.name)
    elif len(indexed) > 1 and all(each.exists() for each in indexed):
        library.drop([folder])


@pytest.mark.times(15, 60, 600)
def test_any_folders_that_come_and_go_lose_nothing_but_what_is_dropped(tmp_path, record, times) -> None:
    """Folders are added, unplugged, plugged in and dropped; each document of an indexed folder is found."""
    draw = random.Random(times)
    folders = [tmp_path / name for name in ("notes", "papers", "letters")]
    for number, folder in enumerate(folders):
        (folder / "sub").mkdir(parents=True)
        (folder / "a.md").write_text(f"The mill {number} has a wheel.\n")
        (folder / "sub" / "b.md").write_text(f"The weir {number} has a bridge.\n")
    unplugged = tmp_path / "unplugged"
    unplugged.mkdir()
    n_away = 0
    read = {folders[0]}
    with spanwise.open(folders[0], tmp_path / "index") as library:
        library.sync(vectors=False)
        for _ in range(times):
            for folder in draw.choices(folders, k=draw.randint(1, 3)):
                come_or_go(library, folder, unplugged, draw)
            indexed = [root.folder for root in library.roots]
            if not any(each.exists() for each in indexed):
                continue
            library.sync(vectors=False)
            read = {each for each in indexed if each in read or each.exists()}
            places = [each if each.exists() else unplugged / each.name for each in read]
            held = [library.document(name).text for name in library.snapshot.files()]
            assert sorted(held) == texts_below(places)
            n_away += any(not each.exists() for each in indexed)
    assert n_away
    record("T24", "times that folders come and go, and nothing is lost", f"{times}")


def sync_scans(say: Say, folder: Path, path: str) -> None:
    os.environ["PATH"] = path
    with spanwise.open(folder) as library:
        library.sync(vectors=False, workers=2, on_progress=lambda task, done, _: say((task, done)))


@pytest.mark.times(6, 100, 400)
def test_a_kill_while_scans_are_read_loses_no_page(tmp_path, record, times) -> None:
    """An index of a killed and a resumed sync is that of one in one go; no page is read twice."""
    engine = FakeEngine(tmp_path / "engine")
    scan = scan_of([[f"page {n}", "of the scan"] for n in range(times)])
    documents = []
    for name in ("whole", "killed"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "scan.pdf").write_bytes(scan)
        n_before = len(engine.pages_read)
        if name == "killed":
            child = Child(sync_scans, folder, engine.path)
            while child.receive() != ("scans", times // 2):
                pass
            child.kill()
            child.end()
        assert run(sync_scans, folder, engine.path).code == 0
        n_read = len(engine.pages_read) - n_before
        assert times <= n_read <= times + 2  # those that two processes had begun
        with spanwise.open(folder) as library:
            documents.append(library.document("scan.pdf"))
    assert documents[0] == documents[1]
    record("T24", "pages of a scan around a kill, read once", f"{times}")
