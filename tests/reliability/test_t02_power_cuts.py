"""T2: after a power cut at any moment the index is the old commit or the new one, whatever was not synced."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import pytest
from file_operations import Operation, heard
from power_cut import Disk, Image, write_image
from workload import HISTORY, check, commit

from spanwise.errors import IndexNotFound, SpanwiseError
from spanwise.index import Store

NOTHING = -1  # there is no index yet
Entry = Operation | int
"""What happened: a change to a file, or the acknowledgement of a generation."""


PLACE = Path("new", "index")  # in a folder that is made with it


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything that making an index and filling it does below `root`, with what was acknowledged when."""

    root: Path
    log: Sequence[Entry]

    def without(self, site: tuple[str, ...]) -> Recording:
        """The recording of a program that lacks the syncs of one place in the code."""
        kept = [entry for entry in self.log if not (isinstance(entry, Operation) and is_sync(entry, site))]
        return Recording(self.root, kept)


def is_sync(operation: Operation, site: tuple[str, ...]) -> bool:
    return operation.kind == "sync" and operation.site == site


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    log: list[Entry] = []
    root = tmp_path_factory.mktemp("recorded")
    with heard(log.append, root):
        with Store.create(root / PLACE, {}):
            log.append(0)
        for change in HISTORY:
            with Store.open(root / PLACE) as store:
                log.append(commit(store, change))
    return Recording(root, log)


def cuts(recording: Recording) -> Iterator[tuple[int, Image]]:
    """Each image that a cut may leave, with the generation that was acknowledged before."""
    disk, acknowledged = Disk(recording.root), NOTHING
    for entry in recording.log:
        if isinstance(entry, int):
            acknowledged = entry
        else:
            disk.apply(entry)
        for image in disk.images():
            yield acknowledged, image


class Judge:
    """Opens images, each kind once, and remembers those that were whole."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._whole = folder, set[tuple[int, str]]()

    def __call__(self, acknowledged: int, image: Image) -> None:
        """AssertionError or a named error unless the image is the acknowledged commit or the next one."""
        key = acknowledged, hashlib.sha256(repr(image).encode()).hexdigest()
        if key in self._whole:
            return
        rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        write_image(image, self._folder)
        try:
            check(self._folder / PLACE, acknowledged, acknowledged + 1)
        except IndexNotFound:
            assert acknowledged == NOTHING
        self._whole.add(key)


@pytest.fixture(scope="module")
def judge(module_memory: Path) -> Judge:
    return Judge(module_memory / "image")


def all_survived(recording: Recording, judge: Judge) -> bool:
    try:
        for acknowledged, image in cuts(recording):
            judge(acknowledged, image)
    except (AssertionError, SpanwiseError):
        return False
    return True


@pytest.mark.reliability
def test_every_power_cut_leaves_the_old_commit_or_the_new(recording, judge, record) -> None:
    n_cuts = 0
    for acknowledged, image in cuts(recording):
        judge(acknowledged, image)
        n_cuts += 1
    record("T2", "power cuts that leave the old commit or the new", f"{n_cuts} of {n_cuts}")


@pytest.mark.reliability
def test_a_program_without_any_one_of_the_syncs_is_caught(recording, judge, record) -> None:
    operations = [entry for entry in recording.log if isinstance(entry, Operation)]
    sites = sorted({operation.site for operation in operations if operation.kind == "sync"})
    assert [site for site in sites if all_survived(recording.without(site), judge)] == []
    record("T2", "places of a sync whose loss is noticed", f"{len(sites)} of {len(sites)}")
