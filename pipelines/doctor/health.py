"""The health of an index: how old it is, whether it is damaged, whether the next sync has room."""

from __future__ import annotations

import shutil
from pathlib import Path

from ...corpora.folder import Listing
from ...index.snapshot import Snapshot
from ...index.store import Store
from ..disk_usage import bytes_below
from ..library import Library
from ..roots import list_roots
from ..status import last_commit
from .finding import Finding, ok, warn

SAMPLE = 25  # documents that the quick check reads


def check_age(path: Path) -> Finding | None:
    """Whether the folders are as they were at the last sync; None where that cannot be told."""
    with Library(Store.open(path)) as library, library.reading() as snapshot:
        if not library.roots or any(not root.folder.is_dir() for root in library.roots):
            return None
        changes = _changes(snapshot, list_roots(library.roots))
        command, when = library.sync_command, f"last commit {last_commit(path)}"
    told = ", ".join(f"{count:,} {what}" for what, count in changes.items() if count)
    if told:
        return warn("age", f"files since the last sync: {told}; {when}", f"bring it up to date: {command}")
    return ok("age", f"as the folders are now; {when}")


def _changes(snapshot: Snapshot, listing: Listing) -> dict[str, int]:
    """How many files are new, changed and gone, by their sizes and times."""
    known = {name: (state.size, state.mtime_ns) for name, state in snapshot.files().items()}
    seen = known | {name: (one.size, one.mtime_ns) for name, one in snapshot.refusals().items()}
    now = {file.document_id: (file.size, file.mtime_ns) for file in listing.files}
    return {
        "new": len(now.keys() - seen.keys()),
        "changed": sum(now[name] != seen[name] for name in now.keys() & seen.keys()),
        "gone": len(known.keys() - now.keys()),
    }


def check_damage(path: Path) -> Finding:
    """A quick look for damage, which is IndexCorrupt: the words of all, some documents and their passages."""
    with Store.open(path) as store, store.snapshot() as snapshot:
        snapshot.postings()
        ids = sorted(snapshot.document_ids())
        sample = ids[:: max(1, -(-len(ids) // SAMPLE))]
        for document_id in sample:
            snapshot.document(document_id)
        passages = snapshot.passage_ids_of(sample).tolist()
        snapshot.passages(passages)
    seen = f"none in {len(sample)} of {len(ids)} documents, {len(passages)} passages and the words"
    return ok("damage", f"{seen} (spanwise verify reads every byte)")


def check_room(path: Path) -> Finding:
    """Whether the disk has room for a second copy of the index, which merging may take for a while."""
    size, free = bytes_below(path), shutil.disk_usage(path).free
    seen = f"{free / 1e9:.1f} GB free, the index has {size / 1e9:.2f} GB"
    if free < size:
        more = f"{(size - free) / 1e9:.2f} GB"
        return warn("room", seen, f"the next sync may need {more} more: free some space")
    return ok("room", f"{seen}: enough for the next sync")
