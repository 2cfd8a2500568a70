"""Files that are sent to the server: stored in an indexed folder, and read by words at once.

A file is streamed into a hidden file, which gets its name when it is whole and durable. Its folder is opened
once and is no link, and all names are parts of it, so no path leads out of it. One library writes for the
uploads and for `--watch`: words at once, then vectors until the next file comes.
"""

import asyncio
import errno
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from spanwise.errors import SpanwiseError, StorageFull
from spanwise.types import SyncReport

from ...corpora.folder import MAX_BYTES
from ...index.files import LOCK, WriteLock
from ...index.shards import is_sharded, shard_folders
from ..folders import existing_folder, id_in
from ..library.watch import Watch, is_relevant
from ..open import open_index

MAX_FILES = 10_000  # that a server takes
MAX_TOTAL = 2_000_000_000  # bytes of them
AT_ONCE = 2
MAX_WAITING = 16  # files
IDLE_S = 30.0  # without a byte
MAX_NAME_BYTES = 255
HIDDEN = ".spanwise-upload-"
LEFT_S = 3600.0  # after which a hidden file belongs to no upload
WATCH_DELAY_S = 1.6
TICK_S = 0.02
END_S = 20.0  # for a sync in progress, when the server ends
QUIET_S = 3.0  # after a file, for its first question, before vectors are made
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MEDIA_TYPE = "application/octet-stream"

log = logging.getLogger("spanwise.server")


class _Interrupted(Exception):
    """A file came while vectors were made."""


class BackgroundSync:
    """The one writer of a server, with threads of its own; `say` gets its errors.

    It opens the index itself, so questions never wait for a sync.
    """

    def __init__(self, index: Path, say: Callable[[str], None]) -> None:
        self.library = open_index(index)
        self.library.store.on_wait = lambda holder: say(f"waiting for process {holder}, which writes {index}")
        self._say = say
        self._lock = threading.Lock()
        self._waiting: list[None] = []
        self._began = 0.0  # of the last sync
        self._report: SyncReport | None = None
        self._lacks_vectors = threading.Event()
        self._is_closed = False
        self._encoder = self._start(self._encode)

    def words(self) -> SyncReport:
        """Sync words, before all vectors, which are made later."""
        came = time.monotonic()
        self._waiting.append(None)
        with self._lock:
            self._waiting.pop()
            if self._report is None or self._began < came:
                self._began = time.monotonic()
                self._report = None
                self._report = self.library.sync(vectors=False)
            self._lacks_vectors.set()
            return self._report

    def watch(self) -> None:
        """Sync from now on whenever a folder changes."""
        self._start(
            lambda: Watch(self.library, self.words, lambda report: None, self._say).run(WATCH_DELAY_S)
        )

    def check(self) -> None:
        """Raise `IndexLocked` while another process writes the index."""
        if self._lock.acquire(blocking=False):
            try:
                path = self.library.store.path
                for part in shard_folders(path) if is_sharded(path) else [path]:
                    lock = WriteLock(part / LOCK)
                    lock.acquire()
                    lock.release()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Wait for a sync in progress; none begins after it."""
        self._is_closed = True
        self._lacks_vectors.set()
        self._encoder.join(END_S)
        self._lock.acquire(timeout=END_S)

    def _encode(self) -> None:
        while not self._is_closed:
            self._lacks_vectors.wait()
            if self._waiting or time.monotonic() < self._began + QUIET_S:
                time.sleep(TICK_S)
                continue
            self._lacks_vectors.clear()
            try:
                with self._lock:
                    self.library.encode(self._give_way)
            except _Interrupted:
                pass  # the sync that interrupted asks for the vectors again
            except SpanwiseError as error:
                self._say(f"vectors are missing: {error}")

    def _give_way(self, *_: object) -> None:
        if self._waiting or self._is_closed:
            raise _Interrupted

    def _start(self, work: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                work()
            except Exception as error:
                self._say(f"syncing ended: {error}")
                log.exception("syncing ended")

        thread = threading.Thread(target=run, name="spanwise-sync", daemon=True)
        thread.start()
        return thread


class Uploads:
    """Takes files into a folder of the index; ValueError for one that is a link, or that no sync reads."""

    def __init__(self, folder: Path, syncs: BackgroundSync) -> None:
        path = existing_folder(folder)
        roots = syncs.library.roots
        root = next((root for root in roots if path.is_relative_to(root.folder)), None)
        index = syncs.library.store.path.resolve()
        if folder.is_symlink() or root is None or not is_relevant(path / "x", [root.folder], index):
            raise ValueError(f"{folder} is a link, or is not indexed. Name a folder below an indexed one.")
        self._place = path.relative_to(root.folder)
        self._root = root
        self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        self._syncs = syncs
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._n_waiting = 0
        self._n_files = 0
        self._n_bytes = 0
        for left in path.glob(f"{HIDDEN}*"):
            if time.time() - left.lstat().st_mtime > LEFT_S:
                left.unlink()

    async def put(self, request: Request, name: str, replace: bool) -> dict[str, str]:
        """The state of a new document, as `status --files` has it."""
        check_name(name)
        if request.headers.get("content-type") != MEDIA_TYPE:
            raise HTTPException(
                415, f"send the bytes of one file, with the header Content-Type: {MEDIA_TYPE}"
            )
        self._check_size(int(request.headers.get("content-length") or 0))
        if self._n_waiting >= MAX_WAITING:
            raise HTTPException(503, f"{MAX_WAITING} files wait. Try again.", {"retry-after": "5"})
        self._n_waiting += 1
        try:
            async with self._turns:
                await self._store(request, name, replace)
                await run_in_threadpool(self._syncs.words)
        finally:
            self._n_waiting -= 1
        return await run_in_threadpool(self._state, name)

    def _state(self, name: str) -> dict[str, str]:
        library = self._syncs.library
        document_id = id_in(self._root, (self._place / name).as_posix(), library.roots)
        unseen = {"document": document_id, "state": "skipped", "format": "", "remark": "left out by a rule"}
        return next((file for file in library.files() if file["document"] == document_id), unseen)

    def _check_size(self, n_bytes: int) -> None:
        if n_bytes > MAX_BYTES:
            raise HTTPException(413, f"the limit of a file is {MAX_BYTES // 10**6} MB")
        if self._n_files >= MAX_FILES or self._n_bytes + n_bytes > MAX_TOTAL:
            limits = f"{MAX_FILES:,} files and {MAX_TOTAL // 10**9} GB"
            raise HTTPException(
                413, f"this server has taken {limits}. Copy files into the folder, or restart it."
            )

    async def _store(self, request: Request, name: str, replace: bool) -> None:
        """Write a file under a hidden name, and give it its own name."""
        hidden = f"{HIDDEN}{uuid4().hex}"
        n_bytes = 0
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(hidden, flags, 0o666, dir_fd=self._folder), "wb") as file:
                async for block in _blocks(request):
                    n_bytes += len(block)
                    self._check_size(n_bytes)
                    await run_in_threadpool(file.write, block)
                file.flush()
                await run_in_threadpool(os.fsync, file.fileno())
            await run_in_threadpool(self._syncs.check)
            self._publish(hidden, name, replace)
        except OSError as error:
            if error.errno in FULL:
                message = f"no room for {name} ({error.strerror}); free space and send it again"
                raise StorageFull(message) from error
            raise HTTPException(403, f"{name} cannot be written: {error.strerror}") from error
        finally:
            with suppress(FileNotFoundError):
                os.unlink(hidden, dir_fd=self._folder)
        self._n_files += 1
        self._n_bytes += n_bytes

    def _publish(self, hidden: str, name: str, replace: bool) -> None:
        try:
            publish: Callable[..., None] = os.replace if replace else os.link
            publish(hidden, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except (FileExistsError, IsADirectoryError):
            raise HTTPException(409, f"{name} is there already. Replace it with: ?replace=true") from None
        os.fsync(self._folder)


@contextmanager
def sync_in_background(
    index: Path, folder: Path | None, watch: bool, say: Callable[[str], None]
) -> Iterator[Uploads | None]:
    """What takes files into a folder, None without one; with `watch` the index follows its folders."""
    if folder is None and not watch:
        yield None
        return
    syncs = BackgroundSync(index, say)
    try:
        uploads = Uploads(folder, syncs) if folder else None
        if watch:
            syncs.watch()
        yield uploads
    finally:
        syncs.close()


def check_name(name: str) -> None:
    """Raise ValueError unless a name is one part of a path, and no hidden one."""
    is_part = "/" not in name and "\\" not in name and name.isprintable()
    if not is_part or name.startswith(".") or not 0 < len(name.encode()) <= MAX_NAME_BYTES:
        raise ValueError(f"{name[:40]!r} is no name of a file: expected one without path, and not hidden")


async def _blocks(request: Request) -> AsyncIterator[bytes]:
    """The blocks of a body; an error when none comes for `IDLE_S`."""
    blocks = request.stream()
    try:
        while block := await asyncio.wait_for(anext(blocks, b""), IDLE_S):
            yield block
    except TimeoutError:
        raise HTTPException(408, f"no byte came for {IDLE_S:.0f} s") from None
    except ClientDisconnect:
        raise HTTPException(400, "the file ended before its end") from None
