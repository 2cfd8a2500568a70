"""Sync: the index becomes what the folder is. New, changed and removed files, then missing vectors.

A file whose size and time are those of the index is taken as unchanged; otherwise its digest decides. Files
that were refused are remembered in the same way, with the reason. Words are committed before vectors, so that
lexical search is ready first, and both as the work goes on, so that nothing done is lost by an interruption.
When words are committed depends on the files alone: the same files give the same segments.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from spanwise.types import ProgressCallback, Rejection, Remark, SyncReport, no_progress

from ..corpora.folder import FoundFile, Listing
from ..corpora.reading import READERS, Skipped
from ..index.analysis import Analyzer
from ..index.schema import FileState, Refusal, indexed_text
from ..index.store import Store
from ..index.writer import Writer
from .file_reader import FileReader, Outcome
from .parsing.plugged import names_of, otherwise_parsed, parser_plugins
from .parsing.pool import ParserPool, default_workers
from .parsing.wire import Parsed
from .tally import Tally

if TYPE_CHECKING:
    from ..retrieval.protocol import Encoder

PASSAGES_PER_COMMIT = 20_000
BYTES_PER_COMMIT = 32 * 2**20  # of files
VECTORS_PER_COMMIT = 2_048
NEVER = (0, 0)  # the size and time that no file has


def sync_words(
    store: Store,
    listing: Listing,
    analyzer: Analyzer,
    on_progress: ProgressCallback = no_progress,
    workers: int | None = None,
    retry: bool = False,
) -> SyncReport:
    """Adds, updates and removes what changed, for lexical search; one bad file stops nothing.

    `workers` processes read the files; with `retry` those that were refused before are tried again,
    and files whose suffix got or lost a parser of another package.
    """
    started = time.monotonic()
    others = parser_plugins()
    with store.writer() as writer:
        with store.snapshot() as snapshot:
            known, refused = snapshot.files(), snapshot.refusals()
            stale = otherwise_parsed(snapshot, others)
        readers = ", ".join([READERS, *(f"{suffix} by {name}" for suffix, name in names_of(others).items())])
        update = _Update(writer, listing, known, {} if retry else refused, readers)
        todo = [file for file in listing.files if file.document_id in stale or not update.is_settled(file)]
        reader = FileReader(store, {name: state for name, state in known.items() if name not in stale})
        with ParserPool(workers or default_workers(), analyzer.settings(), others) as pool:
            update.read(todo, pool.map(reader, todo), on_progress)
        update.forget_gone(refused)
        writer.commit()
    with store.snapshot() as snapshot:
        return update.tally.report(snapshot.n_passages, writer.reused_vectors, time.monotonic() - started)


def lacks_vectors(store: Store, model: str) -> bool:
    """Whether a passage has no vector of the model as its files are now: these may have changed."""
    from ..models.locate import model_digest

    with store.snapshot() as snapshot:
        n_passages = snapshot.n_passages
        return bool(n_passages and snapshot.vector_models().get(model_digest(model), 0) < n_passages)


def sync_vectors(store: Store, encoder: Encoder, on_progress: ProgressCallback = no_progress) -> int:
    """Encodes the passages that have no vector of this model yet; returns how many there were."""
    with store.snapshot() as snapshot:
        missing = snapshot.without_vectors(encoder.digest)
    if not len(missing):
        return 0
    with store.writer() as writer:
        for at in range(0, len(missing), VECTORS_PER_COMMIT):
            batch = missing[at : at + VECTORS_PER_COMMIT].tolist()
            with store.snapshot() as snapshot:
                texts = [indexed_text(passage) for passage in snapshot.passages(batch)]
            vectors = encoder.encode_passages(texts, _counted_on(on_progress, at, len(missing)))
            writer.put_vectors(encoder.digest, batch, vectors)
            writer.commit()
    return len(missing)


def _counted_on(on_progress: ProgressCallback, before: int, total: int) -> Callable[[int], None]:
    return lambda done: on_progress("encode", before + done, total)


class _Update:
    """Writes the outcome of each file into the index, committing as it goes."""

    def __init__(
        self,
        writer: Writer,
        listing: Listing,
        known: Mapping[str, FileState],
        refused: Mapping[str, Refusal],
        reader: str,
    ) -> None:
        self.writer, self.listing, self.known, self.refused = writer, listing, known, refused
        self.reader = reader
        n_found = len(listing.files) + len(listing.rejected) + sum(listing.skipped.values())
        self.tally = Tally(n_found, skipped=Counter(listing.skipped))
        self.staged_passages = self.staged_bytes = 0
        for rejection in listing.rejected:
            self._refuse(rejection.document_id, Refusal(*NEVER, "rejected", rejection.reason, reader))

    def is_settled(self, file: FoundFile) -> bool:
        """True for a file that need not be read: what the index says of it still holds."""
        state = self.known.get(file.document_id)
        if state is not None and (state.size, state.mtime_ns) == (file.size, file.mtime_ns):
            self.tally.unchanged += 1
            return True
        refusal = self.refused.get(file.document_id)
        now = (file.size, file.mtime_ns, self.reader)
        if refusal is None or (refusal.size, refusal.mtime_ns, refusal.reader) != now:
            return False
        self._book(file.document_id, refusal)
        return True

    def read(
        self, files: Sequence[FoundFile], outcomes: Iterable[Outcome], on_progress: ProgressCallback
    ) -> None:
        """Store the outcomes as they come in."""
        n_bytes, total = 0, sum(file.size for file in files)
        for done, outcome in enumerate(outcomes, 1):
            self._store(outcome)
            n_bytes += outcome.file.size
            if self.staged_passages >= PASSAGES_PER_COMMIT or self.staged_bytes >= BYTES_PER_COMMIT:
                self.writer.commit()
                self.staged_passages = self.staged_bytes = 0
            on_progress("files", done, len(files))
            on_progress("bytes", n_bytes, total)

    def forget_gone(self, refused: Iterable[str]) -> None:
        """Remove the documents and refusals of files that are no longer there."""
        found = {file.document_id for file in self.listing.files}
        for gone in sorted(self.known.keys() - found):
            self._remove(gone)
        found |= {rejection.document_id for rejection in self.listing.rejected}
        for gone in sorted(set(refused) - found):
            self.writer.forget_refusal(gone)

    def _store(self, outcome: Outcome) -> None:
        file, state, found = outcome.file, outcome.state, outcome.found
        self.staged_bytes += file.size
        if isinstance(found, Skipped | Rejection):
            kind: Literal["rejected", "skipped"] = "skipped" if isinstance(found, Skipped) else "rejected"
            # What could not even be opened costs little to try again, and its time need not change for that.
            seen = (file.size, file.mtime_ns) if state is not None else NEVER
            if file.document_id in self.known:  # what the index holds is no longer what the file says
                self._remove(file.document_id)
            self._refuse(file.document_id, Refusal(*seen, kind, found.reason, self.reader))
        elif found is None:
            self.writer.touch(file.document_id, outcome.known_state)
            self.tally.unchanged += 1
        else:
            self._put(found, outcome.known_state)

    def _put(self, parsed: Parsed, state: FileState) -> None:
        document = parsed.document
        self.writer.put(document, parsed.passages, parsed.terms, state)
        self.staged_passages += len(parsed.passages)
        (self.tally.updated if document.id in self.known else self.tally.added).append(document.id)
        if remark := document.metadata.get("remark"):
            self.tally.remarks.append(Remark(document.id, remark))

    def _remove(self, document_id: str) -> None:
        self.writer.remove(document_id)
        self.tally.deleted.append(document_id)

    def _refuse(self, document_id: str, refusal: Refusal) -> None:
        """Remember a refusal, unless it is remembered already, and book it."""
        if self.refused.get(document_id) != refusal:
            self.writer.refuse(document_id, refusal)
        self._book(document_id, refusal)

    def _book(self, document_id: str, refusal: Refusal) -> None:
        if refusal.kind == "skipped":
            self.tally.skipped[refusal.reason] += 1
        else:
            self.tally.rejected.append(Rejection(document_id, refusal.reason))
