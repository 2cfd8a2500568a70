"""T13: nothing from outside a folder is read, whatever lies in it and whatever is swapped meanwhile."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import spanwise
from spanwise.corpora.folder import read_regular, walk
from spanwise.errors import DocumentRejected

SECRET = b"the secret from outside"
OWN = b"words of its own"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_bytes(SECRET)
    return tmp_path / "root"


def put(folder: Path, name: bytes | str) -> None:
    path = os.fsencode(folder) + b"/" + os.fsencode(name)
    os.makedirs(path.rpartition(b"/")[0], exist_ok=True)  # noqa: PTH103 — a name of bytes
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(handle, OWN)
    os.close(handle)


GOOD = [
    b"new\nline.txt",
    b"a..txt",
    b"a../b..txt",
    b"%00.txt",
    b"\\0.txt",
    b"x" * 251 + b".txt",
    b"caf\xe9.txt",
    b"\xff\xfe/\x80.txt",
    b"Case.txt",
    b"case.txt",
    b"\x1b[31mred.txt",
    "\u202etxt.exe".encode(),
    b"deep/" * 200 + b"a.txt",
]
LINKS = {"up": "..", "etc": "/etc", "self": "self", "gone": "nowhere", "out.txt": "../outside/a.txt"}


@pytest.fixture
def hostile(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in GOOD:
        put(root, name)
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe.txt")
    if os.geteuid() == 0:
        os.mknod(root / "zero.txt", 0o600 | 0o020000, os.makedev(1, 5))
    monkeypatch.chdir(root)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.txt")
        yield root


def test_a_hostile_folder_is_indexed_without_leaving_it(hostile, record) -> None:
    with spanwise.open(hostile) as library:
        report = library.sync(vectors=False)
        texts = {library.document(name).text for name in library.snapshot.files()}
    assert len(report.added) == len(GOOD)
    assert texts == {OWN.decode()}
    devices = 1 if os.geteuid() == 0 else 0
    assert report.skipped == {"link": len(LINKS), "pipe": 1, "socket": 1} | ({"device": 1} if devices else {})
    record("T13", "odd names read, odd entries passed over", f"{len(GOOD)}, {len(LINKS) + 2 + devices}")


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from spanwise.corpora.folder import walk
from spanwise.corpora.folder import read_regular
if os.geteuid() == 0:
    os.setuid(65534)
listing = walk(Path(sys.argv[1]))
print(*[f"{r.document_id}: {r.reason}" for r in listing.rejected], sep="\\n")
for file in listing.files:
    try:
        read_regular(file.root, file.place)
    except Exception as error:
        print(f"{file.document_id}: {error}")
"""


def test_what_may_not_be_read_is_named(root: Path) -> None:
    for name in (b"closed/a.txt", b"listed-only/a.txt", b"closed.txt", b"open.txt"):
        put(root, name)
    for name, mode in (("closed", 0o000), ("listed-only", 0o444), ("closed.txt", 0o000)):
        (root / name).chmod(mode)
    for folder in (root, *list(root.parents)[:3]):
        folder.chmod(0o755)
    try:
        command = [sys.executable, "-c", UNPRIVILEGED, str(root)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        (root / "closed").chmod(0o755)
    assert done.stdout.splitlines() == [
        "closed: folder cannot be listed: Permission denied",
        "listed-only/a.txt: cannot be read: Permission denied",
        "closed.txt: cannot be opened: Permission denied",
    ]


def swaps(root: Path) -> list[Callable[[], None]]:
    """Ways to exchange `sub/a.txt`, or the folder it lies in, for something else."""
    sub, file, outside = root / "sub", root / "sub" / "a.txt", root.parent / "outside"

    def restore() -> None:
        if sub.is_symlink():
            sub.unlink()
        sub.mkdir(exist_ok=True)
        file.unlink(missing_ok=True)
        put(root, "sub/a.txt")

    def file_by(make: Callable[[], None]) -> None:
        restore()
        file.unlink()
        make()

    def folder_by_link() -> None:
        restore()
        file.unlink()
        sub.rmdir()
        sub.symlink_to(outside)

    return [
        restore,
        lambda: file_by(lambda: file.symlink_to(outside / "a.txt")),
        lambda: file_by(lambda: os.mkfifo(file)),
        lambda: file_by(lambda: file.symlink_to("/etc/hostname")),
        folder_by_link,
    ]


def read_all(root: Path, between: Callable[[], None]) -> set[bytes]:
    """The bytes of all files of one walk, with something happening between listing and opening."""
    listing = walk(root)
    between()
    read = set()
    for file in listing.files:
        try:
            read.add(read_regular(file.root, file.place))
        except DocumentRejected:
            continue
    return read


@pytest.mark.times(10, 1000)
def test_what_is_swapped_between_listing_and_opening_is_not_read(root, record, times) -> None:
    restore, *others = swaps(root)
    read: set[bytes] = set()
    for number in range(times):
        restore()
        read |= read_all(root, others[number % len(others)])
    assert read == set()
    record("T13", "swaps between listing and opening; bytes from outside", f"{times:,}; 0")


SWAPPER = """
import os, sys
os.chdir(sys.argv[1])
for number in range(int(sys.argv[2])):
    os.symlink("../../outside/a.txt", "other")
    os.replace("other", "sub/a.txt")
    os.mkfifo("other")
    os.replace("other", "sub/a.txt")
    os.rename("sub", "other")
    os.symlink("../outside", "sub")
    os.unlink("sub")
    os.rename("other", "sub")
    with open("other", "wb") as file:
        file.write(b"words of its own")
    os.replace("other", "sub/a.txt")
"""


def test_what_is_swapped_at_any_moment_is_not_read(root, nightly, record) -> None:
    put(root, "sub/a.txt")
    rounds, walks, read = (25_000 if nightly else 250), 0, set[bytes]()
    with subprocess.Popen([sys.executable, "-c", SWAPPER, str(root), str(rounds)]) as swapper:
        while swapper.poll() is None:
            walks += 1
            read |= read_all(root, lambda: None)
    assert swapper.returncode == 0
    assert walks > 100
    assert read <= {b"", OWN}
    record("T13", "swaps by another process during walks; bytes from outside", f"{4 * rounds:,}; 0")
