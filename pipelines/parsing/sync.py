"""Sync: updates an index to its folders. New, changed and removed files come first, then missing vectors.

A file with the size and time in the index counts as unchanged; otherwise its digest decides. Rejected files
are stored in the same way, with the reason. Words are committed before vectors, so that lexical search is
ready first. Both are committed in parts, so that an interrupted sync resumes where it stopped. Segment
boundaries depend only on the files, so builds are reproducible.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

import numpy as np

from spanwise.errors import DocumentRejected
from spanwise.types import Document, DocumentWarning, ProgressCallback, RejectedFile, SyncReport, no_progress

from ...corpora.folder import FoundFile, Listing, read_regular
from ...corpora.front_matter import inner_suffix
from ...corpora.reading import READERS
from ...index.analysis import Analyzer
from ...index.maxsim.codebook import Codebook
from ...index.pages import PageStore, Recognised, page_keys
from ...index.protocol import Ids
from ...index.schema import ABSENT, FileState, UnreadFile, indexed_text
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...index.writer import Writer
from .pool import ParsedDocument, ParsePool, ParseWorker

if TYPE_CHECKING:
    from ...retrieval.protocol import Encoder, TokenEncoder

PASSAGES_PER_COMMIT = 20_000
BYTES_PER_COMMIT = 32 * 2**20  # of files
VECTORS_PER_COMMIT = 512
TOKENS_PER_COMMIT = 256  # passages, which take seconds
FEW_BYTES = 64 * 2**10  # of files: one process reads them before a second has started
SAMPLED = 256, 1_024  # passages that a codebook is trained on, at least and at most
PER_ROOT = 8  # of them, for each of the square root of all, as the number of centroids grows
SEED = 0
NEVER = (0, 0)  # the size and time that no file has
READ_BY = "readers"  # the setting with the version of the readers that read all documents
PARSER = "parser"  # the metadata key of documents that a user's function parsed

Parse = Callable[[bytes, str], Document]
"""A user's parser: from the bytes of a file and its document id to the document."""


# Words


def sync_words(
    store: Store,
    listing: Listing,
    analyzer: Analyzer,
    on_progress: ProgressCallback = no_progress,
    workers: int | None = None,
    retry: bool = False,
    parsers: Mapping[str, Parse] | None = None,
    accept_deletions: bool = False,
) -> SyncReport:
    """Adds, updates and removes the changed documents, for lexical search. A bad file stops nothing.

    `workers` processes parse the files; `retry` reads rejected files again. `parsers` are functions for
    suffixes such as ".log": they run in this process, and files that others parsed are parsed again.
    Documents whose files may be out of reach are kept unless `accept_deletions`, see `_Update.forget_gone`.
    """
    started = time.monotonic()
    own = {suffix.lower(): parse for suffix, parse in (parsers or {}).items()}
    with store.writer() as writer:
        with store.snapshot() as snapshot:
            stored = snapshot.files()
            refused = snapshot.unread_files()
            read_by = snapshot.settings.get(READ_BY, "")
            is_older = read_by != READERS
            stale = set(stored) if is_older else _parsed_by_others(snapshot, own)
            documents = snapshot.descriptions() if is_older else ()
            keys = {stored[each.id].sha256: page_keys(each.metadata) for each in documents}
            stale |= {
                name
                for name, state in stored.items()
                if state.is_absent and state.stamp.partition(ABSENT)[2] != READERS
            }
        readers = ", ".join([READERS, *(f"{suffix} by {name_of(own[suffix])}" for suffix in sorted(own))])
        update = _Update(writer, listing, stored, {} if retry else refused, readers)
        todo = [file for file in listing.files if file.document_id in stale or not update.is_settled(file)]
        fresh = {name: state for name, state in stored.items() if name not in stale}
        pages = PageStore(store.path)
        reader = FileReader(store, fresh, own, readers, lambda sha256: pages.pages(keys.get(sha256, {})))
        if workers is None and sum(file.size for file in todo) <= FEW_BYTES:
            workers = 1
        with ParsePool(analyzer.settings(), workers) as pool:
            update.read(todo, pool.map(reader, todo), on_progress)
        update.forget_gone(refused, accept_deletions, read_by)
        if is_older and todo:
            for key, value in {READ_BY: READERS, **analyzer.settings()}.items():
                writer.set(key, value)
        writer.commit()
    with store.snapshot() as snapshot:
        return with_refusals(update.report(time.monotonic() - started), snapshot, listing)


def with_refusals(report: SyncReport, snapshot: Snapshot, listing: Listing) -> SyncReport:
    """The report with the files that have no document in a commit; every file found is counted once."""
    refusals = snapshot.unread_files()
    rejected = [RejectedFile(name, each.reason) for name, each in refusals.items() if each.kind == "rejected"]
    skipped = Counter(listing.skipped)
    skipped.update(each.reason for each in refusals.values() if each.kind == "skipped")
    n_others = len(report.added) + len(report.updated) + len(rejected) + skipped.total()
    return replace(
        report,
        passages=snapshot.n_passages,
        rejected=tuple(rejected),
        skipped=dict(sorted(skipped.items())),
        unchanged=report.found - n_others,
    )


def name_of(parse: Parse) -> str:
    """The name of a parser in the metadata of its documents."""
    return f"{getattr(parse, '__module__', '')}.{getattr(parse, '__qualname__', type(parse).__qualname__)}"


def _parsed_by_others(snapshot: Snapshot, own: Mapping[str, Parse]) -> set[str]:
    """The documents with a suffix of these parsers that something else parsed."""
    return {
        document.id
        for document in (snapshot.descriptions() if own else ())
        if (parse := own.get(suffix_of(document.id))) and document.metadata.get(PARSER) != name_of(parse)
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one file: a document, a refusal, or None for an unchanged file."""

    file: FoundFile
    state: FileState
    result: ParsedDocument | UnreadFile | None


class FileReader:
    """Reads files that differ from those of an index. Several threads may call it at once.

    `stored` are the files in the index, `own` the user's parsers, `readers` the names of all parsers, which
    are stored with refusals. `recognised` are the pages of a file, by its digest, that an engine has read.
    """

    def __init__(
        self,
        store: Store,
        stored: Mapping[str, FileState],
        own: Mapping[str, Parse],
        readers: str,
        recognised: Callable[[str], Mapping[int, Recognised]],
    ) -> None:
        self._store = store
        self._stored = stored
        self._own = own
        self._readers = readers
        self._recognised = recognised
        self._by_bytes = {
            (state.sha256, inner_suffix(name) + suffix_of(name)): name for name, state in stored.items()
        }

    def __call__(self, worker: ParseWorker, file: FoundFile) -> Outcome:
        """The outcome for one file; raises for no file."""
        # A file that cannot be opened is tried at each sync, because its time may stay the same.
        state = FileState(*NEVER, "")
        kind: Literal["rejected", "skipped"] = "rejected"
        try:
            data = read_regular(file.root, file.place)
            # The time is that of the listing: a file that changed since is seen by the next sync.
            state = FileState(file.size, file.mtime_ns, hashlib.sha256(data).hexdigest(), file.stamp)
            before = self._stored.get(file.document_id)
            if before is not None and before.sha256 == state.sha256:
                return Outcome(file, state, None)
            document = self._stored_copy(file.document_id, state.sha256)
            parse = self._own.get(suffix_of(file.document_id))
            if document is None and parse is not None:
                document = _parsed(parse, data, file.document_id, state.sha256)
            if document is not None:
                result = worker.split(document)
            else:
                recognised = self._recognised(state.sha256)
                result = worker.parse(data, file.document_id, state.sha256, recognised=recognised)
            if isinstance(result, ParsedDocument):
                return Outcome(file, state, result)
            kind = "skipped"
            reason = result.reason
        except DocumentRejected as error:
            reason = str(error)
        return Outcome(file, state, UnreadFile(state.size, state.mtime_ns, kind, reason, self._readers))

    def _stored_copy(self, document_id: str, sha256: str) -> Document | None:
        """The document of a file that was renamed, moved or copied, without parsing it again.

        None without a stored file of the same bytes and suffixes, or if its title may be the file's name.
        """
        same = self._by_bytes.get((sha256, inner_suffix(document_id) + suffix_of(document_id)))
        if same is None:
            return None
        with self._store.snapshot() as snapshot:
            try:
                document = snapshot.document(same)
            except ValueError:  # this sync has removed it
                return None
        if document.sha256 != sha256:
            return None
        same_name = PurePosixPath(same).stem == PurePosixPath(document_id).stem
        if document.title == PurePosixPath(same).stem and not same_name:
            return None
        return replace(document, id=document_id)


def suffix_of(document_id: str) -> str:
    """The suffix of a file in lower case."""
    return PurePosixPath(document_id).suffix.lower()


def _parsed(parse: Parse, data: bytes, document_id: str, sha256: str) -> Document:
    """The document of a user's function; DocumentRejected if it fails or returns something else."""
    try:
        document = parse(data, document_id)
    except DocumentRejected:
        raise
    except Exception as error:
        raise DocumentRejected(f"{name_of(parse)} failed: {type(error).__name__}: {error}") from error
    if not isinstance(document, Document):
        raise DocumentRejected(f"{name_of(parse)} returned {document!r:.60}, expected a Document")
    metadata = {**document.metadata, PARSER: name_of(parse)}
    return replace(document, id=document_id, sha256=sha256, metadata=metadata)


class _Update:
    """Writes the outcome of each file into the index, committing as it goes."""

    def __init__(
        self,
        writer: Writer,
        listing: Listing,
        stored: Mapping[str, FileState],
        refused: Mapping[str, UnreadFile],
        reader: str,
    ) -> None:
        self.writer = writer
        self.listing = listing
        self.stored = stored
        self.refused = refused
        self.reader = reader
        self.added: list[str] = []
        self.updated: list[str] = []
        self.deleted: list[str] = []
        self.remarks: list[DocumentWarning] = []
        self.staged_passages = 0
        self.staged_bytes = 0
        self.n_kept = 0
        self.arrived: set[str] = set()  # digests of new files
        self.same_devices: set[tuple[str, str]] = set()  # a device may have another number when it is back
        for rejection in listing.rejected:
            self._refuse(rejection.document_id, UnreadFile(*NEVER, "rejected", rejection.reason, reader))

    def is_settled(self, file: FoundFile) -> bool:
        """True for a file that did not change."""
        state = self.stored.get(file.document_id)
        if state and self._is_same(state, file):
            if state.is_absent:
                self.writer.touch(file.document_id, replace(state, stamp=file.stamp))
            return True
        refusal = self.refused.get(file.document_id)
        current = (file.size, file.mtime_ns, self.reader)
        return refusal is not None and (refusal.size, refusal.mtime_ns, refusal.reader) == current

    def _is_same(self, state: FileState, file: FoundFile) -> bool:
        known = state.stamp.partition(ABSENT)[0].rpartition(" ")[0]
        stamp, _, here = file.stamp.rpartition(" ")
        if (state.size, state.mtime_ns, known) != (file.size, file.mtime_ns, stamp):
            return False
        self.same_devices.add((state.device, here))
        return True

    def read(
        self, files: Sequence[FoundFile], outcomes: Iterable[Outcome], on_progress: ProgressCallback
    ) -> None:
        """Store the outcomes as they come in."""
        n_bytes = 0
        total = sum(file.size for file in files)
        for n_files, outcome in enumerate(outcomes, 1):
            self._store(outcome)
            n_bytes += outcome.file.size
            if self.staged_passages >= PASSAGES_PER_COMMIT or self.staged_bytes >= BYTES_PER_COMMIT:
                self.writer.commit()
                self.staged_passages = 0
                self.staged_bytes = 0
            on_progress("files", n_files, len(files))
            on_progress("bytes", n_bytes, total)

    def forget_gone(self, refused: Iterable[str], accept_deletions: bool, read_by: str) -> None:
        """Remove the documents and refusals of files that are no longer there.

        Unless `accept_deletions`, a document is kept and marked if the nearest folder above it that is there
        cannot be listed, holds no file or is on another device, and its bytes did not turn up elsewhere.
        """
        present = {file.document_id for file in self.listing.files}
        for gone in sorted(self.stored.keys() - present):
            state = self.stored[gone]
            if accept_deletions or state.sha256 in self.arrived or self._is_deleted(gone, state.device):
                self._remove(gone)
                continue
            self.n_kept += 1
            if not state.is_absent:
                self.writer.touch(gone, replace(state, stamp=f"{state.stamp}{ABSENT}{read_by}"))
        present |= {rejection.document_id for rejection in self.listing.rejected}
        for gone in sorted(set(refused) - present):
            self.writer.remove_unread_file(gone)

    def _is_deleted(self, gone: str, device: str) -> bool:
        folders = self.listing.folders
        place = gone
        while place and place not in folders:
            place = place.rpartition("/")[0]
        here = folders.get(place)
        if here is None:  # below no folder: its id may be older than their labels
            return "" not in folders.values()
        is_same = device in ("", here) or (device, here) in self.same_devices
        return here != "" and is_same

    def report(self, seconds: float) -> SyncReport:
        """The report without refusals, see `with_refusals`."""
        listing = self.listing
        return SyncReport(
            added=tuple(sorted(self.added)),
            updated=tuple(sorted(self.updated)),
            deleted=tuple(sorted(self.deleted)),
            remarks=tuple(sorted(self.remarks, key=lambda remark: remark.document_id)),
            found=len(listing.files) + len(listing.rejected) + sum(listing.skipped.values()),
            reused_vectors=self.writer.reused_vectors,
            seconds=round(seconds, 3),
            kept=self.n_kept,
        )

    def _store(self, outcome: Outcome) -> None:
        file = outcome.file
        self.staged_bytes += file.size
        if isinstance(outcome.result, UnreadFile):
            if file.document_id in self.stored:
                self._remove(file.document_id)
            self._refuse(file.document_id, outcome.result)
        elif outcome.result is None:
            self.writer.touch(file.document_id, outcome.state)
        else:
            document = outcome.result.document
            passages = outcome.result.passages
            before = self.stored.get(document.id)
            if before is None or before.sha256 != outcome.state.sha256:
                self.arrived.add(outcome.state.sha256)
            self.writer.put(document, passages, outcome.result.terms, outcome.state)
            self.staged_passages += len(passages)
            (self.updated if before else self.added).append(document.id)
            if remark := document.metadata.get("remark"):
                self.remarks.append(DocumentWarning(document.id, remark))

    def _remove(self, document_id: str) -> None:
        self.writer.remove(document_id)
        self.deleted.append(document_id)

    def _refuse(self, document_id: str, refusal: UnreadFile) -> None:
        """Store a refusal, unless it is stored already."""
        if self.refused.get(document_id) != refusal:
            self.writer.put_unread_file(document_id, refusal)


# Vectors


def sync_dense(store: Store, encoder: Encoder, on_progress: ProgressCallback) -> int:
    """Encodes the passages without a vector of this encoder, committing each part; returns their number."""
    with store.writer() as writer:
        with store.snapshot() as snapshot:
            missing = snapshot.without_vectors(encoder.digest)
        parts = _parts(missing, VECTORS_PER_COMMIT)
        for ids, texts, on_done in _with_texts(store, parts, "encode", on_progress):
            writer.put_vectors(encoder.digest, ids, encoder.encode_passages(texts, on_done))
            writer.commit()
    return len(missing)


def sync_tokens(store: Store, encoder: TokenEncoder, on_progress: ProgressCallback = no_progress) -> int:
    """Encodes the passages without token vectors of this encoder, committing each part.

    A codebook is trained on a random sample of the passages. The sample is encoded first and stored like all
    others, so no passage is encoded twice.
    """
    digest = encoder.digest
    with store.writer() as writer:
        with store.snapshot() as snapshot:
            missing = snapshot.without_tokens(digest)
            needs_codebook = snapshot.codebook(digest) is None
        n_sampled = _n_sampled(len(missing)) if needs_codebook else 0
        is_sampled = np.zeros(len(missing), np.bool_)
        is_sampled[np.random.default_rng(SEED).permutation(len(missing))[:n_sampled]] = True
        sample = [missing[is_sampled].tolist()] if n_sampled else []
        parts = [*sample, *_parts(missing[~is_sampled], TOKENS_PER_COMMIT)]
        for ids, texts, on_done in _with_texts(store, parts, "tokens", on_progress):
            vectors, lengths = encoder.encode_passages(texts, on_done)
            if needs_codebook:
                writer.put_codebook(digest, Codebook.train(vectors, len(vectors) * len(missing) // len(ids)))
                needs_codebook = False
            writer.put_tokens(digest, ids, vectors, lengths)
            writer.commit()
    return len(missing)


def _n_sampled(n_passages: int) -> int:
    least, most = SAMPLED
    return min(n_passages, most, max(least, PER_ROOT * isqrt(n_passages)))


def _parts(ids: Ids, n: int) -> list[list[int]]:
    return [ids[start : start + n].tolist() for start in range(0, len(ids), n)]


def _with_texts(
    store: Store, parts: Sequence[list[int]], task: str, on_progress: ProgressCallback
) -> Iterator[tuple[list[int], list[str], Callable[[int], None]]]:
    """Each part with the texts of its passages, and a callback for the number of encoded ones."""
    n_before = 0
    total = sum(map(len, parts))
    for ids in parts:
        with store.snapshot() as snapshot:
            texts = [indexed_text(passage) for passage in snapshot.passages(ids)]

        def on_done(n: int, n_before: int = n_before) -> None:
            on_progress(task, n_before + n, total)

        yield ids, texts, on_done
        n_before += len(ids)
