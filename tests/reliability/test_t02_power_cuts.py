"""T2: after a power cut at any moment the index is the old commit or the new one, whatever was not synced."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree

import pytest
from crashes import Disk, Image, Operation, recorded, write_image
from workload import HISTORY, check, commit

from spanwise.errors import IndexNotFound, SpanwiseError
from spanwise.index import Store

NOTHING = -1  # there is no index yet
PLACE = Path("new", "index")  # in a folder that is made with it
Log = Sequence[Operation | int]  # changes of files, and the generations that were acknowledged between them


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


@pytest.fixture(scope="module")
def log(root: Path) -> Log:
    """Everything that making an index and filling it does below `root`."""
    log: list[Operation | int] = []
    with recorded(log.append, root):
        with Store.create(root / PLACE, {}):
            log.append(0)
        for change in HISTORY:
            with Store.open(root / PLACE) as store:
                log.append(commit(store, change))
    return log


def cuts(root: Path, log: Log) -> Iterator[tuple[int, Image]]:
    """Each image that a cut may leave, with the generation that was acknowledged before."""
    disk, acknowledged = Disk(root), NOTHING
    for entry in log:
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


@pytest.mark.times(12, 10**9)
def test_every_power_cut_leaves_the_old_commit_or_the_new(root, log, judge, record, times) -> None:
    n_cuts = 6 * len(log)
    chosen = range(0, n_cuts, max(1, n_cuts // times))
    for number, (acknowledged, image) in enumerate(cuts(root, log)):
        if number in chosen:
            judge(acknowledged, image)
    assert number + 1 == n_cuts
    record("T2", "power cuts that leave the old commit or the new", f"{len(chosen)} of {len(chosen)}")


def test_a_program_without_any_one_of_the_syncs_is_caught(root, log, judge, record) -> None:
    def survives_without(site: tuple[str, ...]) -> bool:
        rest = [e for e in log if isinstance(e, int) or (e.kind, e.site) != ("sync", site)]
        try:
            for acknowledged, image in cuts(root, rest):
                judge(acknowledged, image)
        except (AssertionError, SpanwiseError):
            return False
        return True

    sites = sorted({entry.site for entry in log if isinstance(entry, Operation) and entry.kind == "sync"})
    assert [site for site in sites if survives_without(site)] == []
    record("T2", "places of a sync whose loss is noticed", f"{len(sites)} of {len(sites)}")
