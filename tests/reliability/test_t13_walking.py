"""T13: nothing from outside a folder is read, whatever lies in it and whatever is swapped meanwhile."""

import os
import socket
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from crashes import Child, Say, run

import spanwise
from spanwise.corpora.folder import Listing, read_regular, walk
from spanwise.errors import DocumentRejected

OWN = b"words of its own"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("root", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside" / "a.txt").write_bytes(b"the secret from outside")
    return tmp_path / "root"


def put(folder: Path, name: bytes) -> None:
    path = os.fsencode(folder) + b"/" + name
    os.makedirs(path.rpartition(b"/")[0], exist_ok=True)  # noqa: PTH103 — a name of bytes
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(handle, OWN)
    os.close(handle)


GOOD = [
    *(b"new\nline.txt", b"a..txt", b"a../b..txt", b"%00.txt", b"\\0.txt", b"x" * 251 + b".txt"),
    *(b"caf\xe9.txt", b"\xff\xfe/\x80.txt", b"Case.txt", b"case.txt", b"\x1b[31mred.txt"),
    *("\u202etxt.exe".encode(), b"deep/" * 200 + b"a.txt"),
]
LINKS = {"up": "..", "etc": "/etc", "self": "self", "gone": "nowhere", "out.txt": "../outside/a.txt"}


def test_a_hostile_folder_is_indexed_without_leaving_it(root, record, monkeypatch) -> None:
    for name in GOOD:
        put(root, name)
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    os.mkfifo(root / "pipe.txt")
    odd = {"link": len(LINKS), "pipe": 1, "socket": 1}
    if os.geteuid() == 0:
        os.mknod(root / "zero.txt", 0o600 | 0o020000, os.makedev(1, 5))
        odd["device"] = 1
    monkeypatch.chdir(root)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener, spanwise.open(root) as library:
        listener.bind("socket.txt")
        report = library.sync(vectors=False)
        texts = {library.document(name).text for name in library.snapshot.files()}
    assert len(report.added) == len(GOOD)
    assert texts == {OWN.decode()}
    assert report.skipped == odd
    record("T13", "odd names read, odd entries passed over", f"{len(GOOD)}, {sum(odd.values())}")


def read(listing: Listing) -> dict[str, bytes | str]:
    """The bytes of each file by its name, or why it cannot be read."""
    contents: dict[str, bytes | str] = {file.document_id: file.reason for file in listing.rejected}
    for file in listing.files:
        try:
            contents[file.document_id] = read_regular(file.root, file.place)
        except DocumentRejected as error:
            contents[file.document_id] = str(error)
    return contents


def read_as_nobody(say: Say, root: Path) -> None:
    if os.geteuid() == 0:
        os.setuid(65534)
    say(read(walk(root)))


def test_files_without_read_permission_are_named(root: Path) -> None:
    for name in (b"closed/a.txt", b"listed-only/a.txt", b"closed.txt", b"open.txt"):
        put(root, name)
    for folder in (root, *(above for above in root.parents if "pytest-" in str(above))):
        folder.chmod(0o755)
    for closed, mode in (("closed", 0o000), ("listed-only", 0o444), ("closed.txt", 0o000)):
        (root / closed).chmod(mode)
    [contents] = run(read_as_nobody, root).messages
    (root / "closed").chmod(0o755)
    assert contents == {
        "closed": "folder cannot be listed: Permission denied",
        "listed-only/a.txt": "cannot be read: Permission denied",
        "closed.txt": "cannot be opened: Permission denied",
        "open.txt": OWN,
    }


def swaps(root: Path) -> Iterator[None]:
    """Exchange `sub/a.txt`, or the folder it lies in, for something else, and bring it back, by turns."""
    outside = root.parent / "outside"
    sub = root / "sub"
    file = root / "sub" / "a.txt"
    other = root / "other"
    links = (lambda: other.symlink_to(outside / "a.txt"), lambda: other.symlink_to("/etc/hostname"))
    for make in cycle((*links, lambda: os.mkfifo(other), None)):
        if make:
            make()
            other.replace(file)
            yield
            other.write_bytes(OWN)
            other.replace(file)
        else:
            sub.rename(other)
            sub.symlink_to(outside)
            yield
            sub.unlink()
            other.rename(sub)
        yield


@pytest.mark.times(10, 1000)
def test_a_file_swapped_between_listing_and_opening_is_not_read(root, record, times) -> None:
    put(root, b"sub/a.txt")
    swapping = swaps(root)
    for _ in range(times):
        listing = walk(root)
        assert read(listing) == {"sub/a.txt": OWN}
        next(swapping)
        assert isinstance(read(listing)["sub/a.txt"], str)
        next(swapping)
    record("T13", "swaps between listing and opening; bytes from outside", f"{times:,}; 0")


def swap(say: Say, root: Path) -> None:
    say("started")
    for _ in swaps(root):
        pass


def test_a_file_swapped_at_any_moment_is_not_read(root, record, nightly) -> None:
    put(root, b"sub/a.txt")
    swapper = Child(swap, root)
    contents = set[bytes | str]()
    walks = 200_000 if nightly else 2_000
    swapper.receive()
    for _ in range(walks):
        contents |= set(read(walk(root)).values())
    assert swapper.alive()
    swapper.kill()
    swapper.end()
    assert {each for each in contents if isinstance(each, bytes)} <= {b"", OWN}
    record("T13", "walks while another process swaps files; bytes from outside", f"{walks:,}; 0")
