"""One file is read: unchanged after all, known under another name, parsed, or refused with a reason."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from spanwise.errors import DocumentRejected
from spanwise.types import Document, Rejection

from ..corpora.folder import FoundFile
from ..corpora.opening import read_regular
from ..corpora.reading import Skipped
from ..index.schema import FileState
from ..index.store import Store
from .parsing.parser import Parser
from .parsing.wire import Parsed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a file holds: a document, a reason for none, or None when its bytes are those of the index.

    `state` is None for a file that could not be opened.
    """

    file: FoundFile
    state: FileState | None
    found: Parsed | Skipped | Rejection | None

    @property
    def known_state(self) -> FileState:
        """The state of a file that was opened."""
        if self.state is None:
            raise ValueError(f"{self.file.document_id!r} was not opened")
        return self.state


class FileReader:
    """Reads files against what an index holds; may be called from several threads at once."""

    def __init__(self, store: Store, known: Mapping[str, FileState]) -> None:
        self._store, self._known = store, known
        self._by_bytes = {(state.sha256, _suffix(name)): name for name, state in known.items()}

    def __call__(self, parser: Parser, file: FoundFile) -> Outcome:
        """The outcome for one file; nothing that a file can do raises."""
        state = None
        try:
            data = read_regular(file.root, file.place)
            # The time is that of the listing: a file that changed since is seen by the next sync.
            state = FileState(file.size, file.mtime_ns, hashlib.sha256(data).hexdigest())
            before = self._known.get(file.document_id)
            if before is not None and before.sha256 == state.sha256:
                return Outcome(file, state, None)
            if (copy := self._stored_copy(file.document_id, state.sha256)) is not None:
                return Outcome(file, state, parser.split(copy))
            return Outcome(file, state, parser.parse(data, file.document_id, state.sha256))
        except DocumentRejected as error:
            return Outcome(file, state, Rejection(file.document_id, str(error)))

    def _stored_copy(self, document_id: str, sha256: str) -> Document | None:
        """The document of a file that was renamed, moved or copied, without parsing it again.

        None when no stored file has the same bytes and suffix, and when its title may be its file's name.
        """
        twin = self._by_bytes.get((sha256, _suffix(document_id)))
        if twin is None:
            return None
        with self._store.snapshot() as snapshot:
            try:
                document = snapshot.document(twin)
            except ValueError:  # removed by this very sync
                return None
        if document.sha256 != sha256:
            return None
        same_name = PurePosixPath(twin).stem == PurePosixPath(document_id).stem
        if document.title == PurePosixPath(twin).stem and not same_name:
            return None
        return replace(document, id=document_id)


def _suffix(document_id: str) -> str:
    return PurePosixPath(document_id).suffix.lower()
