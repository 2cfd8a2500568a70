"""The manifest of an index of shards, and which documents belong to which shard.

<index>/shards.json     {"format": 1, "shards": ["shard-0000", "shard-0001", ...]}
<index>/shard-0000/     an ordinary index, with the setting "shard": "0/8"

The SHA-256 of a document's id selects its shard, so a changed document changes one shard. Because of the
setting, a sync of one shard touches only the documents of that shard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from spanwise.errors import FormatTooNew, IndexCorrupt

from .files import publish, write_file

MANIFEST = "shards.json"
SHARD = "shard"  # the setting of a shard: its number and the number of shards, such as "3/8"
FORMAT = 1


def is_sharded(index: Path) -> bool:
    """True if this is the folder of an index of shards."""
    return (index / MANIFEST).is_file()


def shard_folders(index: Path) -> list[Path]:
    """The folder of each shard, by number. Raise `IndexCorrupt` for a damaged manifest, or `FormatTooNew`."""
    path = index / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = int(manifest["format"])
        names = [str(name) for name in manifest["shards"]]
        if not names or any(not name or Path(name).name != name for name in names):
            raise ValueError(f"{names!r:.60}")
    except (ValueError, KeyError, TypeError) as error:
        raise IndexCorrupt(f"{path} is damaged ({error}): restore it from a copy of the index") from error
    if version > FORMAT:
        raise FormatTooNew(f"{path} has format {version}, this program reads {FORMAT}: install a newer one")
    return [index / name for name in names]


def write_manifest(index: Path, names: Sequence[str]) -> None:
    """Atomically replace the manifest of an index by one that lists these folders."""
    temporary = index / f"{MANIFEST}.unfinished"
    temporary.unlink(missing_ok=True)
    write_file(temporary, [json.dumps({"format": FORMAT, "shards": list(names)}, indent=1).encode("ascii")])
    publish(temporary, index / MANIFEST)


def shard_of(document_id: str, n_shards: int) -> int:
    """The number of the shard that a document belongs to.

    >>> [shard_of(f"{name}.md", 4) for name in ("mill", "weir", "tram")]
    [2, 3, 2]
    """
    digest = hashlib.sha256(document_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % n_shards
