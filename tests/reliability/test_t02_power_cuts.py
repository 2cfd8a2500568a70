"""T2: after a power cut at any moment the index is the old commit or the new one, whatever was not synced."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from shutil import rmtree

import pytest
from crashes import Disk, Image, Operation, recorded, write_image
from workload import HISTORY, check, commit

from spanwise.errors import IndexNotFound, SpanwiseError
from spanwise.index.store import Store

NOTHING = -1  # there is no index yet
PLACE = Path("new", "index")  # in a folder that is made with it
Log = Sequence[Operation | int]  # changes of files, and the generations that were acknowledged between them
Judge = Callable[[int, Image], None]


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
    disk = Disk(root)
    acknowledged = NOTHING
    for entry in log:
        if isinstance(entry, int):
            acknowledged = entry
        else:
            disk.apply(entry)
        for image in disk.images():
            yield acknowledged, image


@pytest.fixture(scope="module")
def judge(module_memory: Path) -> Judge:
    """AssertionError or a named error unless an image is the acknowledged commit or the next one."""
    folder = module_memory / "image"
    whole = set[tuple[int, str]]()

    def judged(acknowledged: int, image: Image) -> None:
        key = acknowledged, hashlib.sha256(repr(image).encode()).hexdigest()
        if key in whole:
            return
        rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write_image(image, folder)
        try:
            check(folder / PLACE, acknowledged, acknowledged + 1)
        except IndexNotFound:
            assert acknowledged == NOTHING
        whole.add(key)

    return judged


@pytest.mark.times(12, 10**9)
def test_every_power_cut_leaves_the_old_commit_or_the_new(root, log, judge, record, times) -> None:
    step = max(1, 6 * len(log) // times)
    for acknowledged, image in islice(cuts(root, log), 0, None, step):
        judge(acknowledged, image)
    n_cuts = len(range(0, 6 * len(log), step))
    record("T2", "power cuts that leave the old commit or the new", f"{n_cuts} of {n_cuts}")


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
