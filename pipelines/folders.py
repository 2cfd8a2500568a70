"""The indexed folders, the place of their index, and documents by name.

The index of a folder is `.spanwise/` in it, found upward from the current directory like `.git`. The index of
a read-only folder is in the user's cache directory (or in `SPANWISE_CACHE`), under the folder's name and the
digest of its path.

With one folder, document ids are paths below it. With several, each id starts with the label of its folder.
The settings store the folders as a JSON list of [label, path]. A folder with its own `.spanwise` is stored as
"..", so that both can be moved together.
"""

import hashlib
import json
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from spanwise.errors import DocumentNotFound, FolderNotFound, IndexNotFound
from spanwise.types import RejectedFile

from ..corpora.folder import Listing, merge, readable, walk
from ..index.shards import SHARD, is_sharded, shard_of

FOLDER_NAME = ".spanwise"
CATALOG_NAME = "catalog.sqlite"
ROOTS = "roots"  # the setting that holds the folders
HERE = ".."
MAX_COMPARED = 50_000  # ids that are compared with an unknown name, for suggestions


@dataclass(frozen=True, slots=True)
class Root:
    """An indexed folder, and the label at the start of its ids when there are several folders."""

    label: str
    folder: Path


# Where an index is stored


def index_folder_of(folder: Path) -> Path:
    """The place of a folder's index: in it, or in the cache when the folder is read-only."""
    own = folder / FOLDER_NAME
    return own if is_writable(own if own.exists() else folder) else cached_index_of(folder)


def cached_index_of(folder: Path) -> Path:
    """The place of the index of a read-only folder."""
    path = folder.resolve()
    return user_cache() / f"{path.name or 'root'}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}"


def user_cache() -> Path:
    """The folder for files that belong to a user and to no index."""
    if own := os.environ.get("SPANWISE_CACHE"):
        return Path(own)
    from platformdirs import user_cache_path

    return user_cache_path("spanwise")


def is_writable(folder: Path) -> bool:
    """True if files can be created in a folder, by its permissions and its file system."""
    return os.access(folder, os.W_OK | os.X_OK)


def is_index(path: Path) -> bool:
    """True for the directory of an index, with or without shards."""
    return (path / CATALOG_NAME).is_file() or is_sharded(path)


def resolve_index(path: Path) -> Path:
    """The index that `--index` names: that directory, or the index of that folder."""
    if is_index(path):
        return path
    if index := index_in(path):
        return index
    quoted = shlex.quote(str(path))
    arguments = quoted if path.is_dir() else f"FOLDER --index {quoted}"
    raise IndexNotFound(
        f"no index in {path}: it is not an index and holds none. Make one with: spanwise index {arguments}"
    )


def nearest_index(start: Path) -> Path:
    """The index of `start` or of the nearest folder above it that has one."""
    for folder in (start, *start.parents):
        if index := index_in(folder):
            return index
    quoted = shlex.quote(str(start))
    raise IndexNotFound(f"no index in {start} or above it. Make one with: spanwise index {quoted}")


def existing_folder(folder: Path) -> Path:
    """The folder as an absolute path; FolderNotFound without one."""
    if not folder.exists():
        raise FolderNotFound(f"there is no folder {folder}")
    if not folder.is_dir():
        raise FolderNotFound(f"{folder} is a file, not a folder. Name the folder that holds it")
    return folder.resolve()


def index_in(folder: Path) -> Path | None:
    """The index of a folder, if any; first the one that can be synced."""
    return next(filter(is_index, (index_folder_of(folder), folder / FOLDER_NAME)), None)


# The folders of an index


def read_roots(settings: Mapping[str, str], index: Path) -> tuple[Root, ...]:
    """The folders of an index, with their current paths."""
    beside = index.resolve().parent
    stored = json.loads(settings[ROOTS])
    return tuple(Root(label, beside if path == HERE else Path(path)) for label, path in stored)


def roots_setting(roots: Sequence[Root], index: Path) -> dict[str, str]:
    """The setting that `read_roots` reads. JSON also stores a path that is not UTF-8."""
    here = index.resolve().parent if index.name == FOLDER_NAME else None
    stored = [[root.label, HERE if root.folder == here else str(root.folder)] for root in roots]
    return {ROOTS: json.dumps(stored)}


def with_folders(roots: Sequence[Root], folders: Sequence[Path]) -> tuple[Root, ...]:
    """The roots with these folders added; `ValueError` when one is inside another."""
    grown = list(roots)
    for folder in folders:
        if any(root.folder == folder for root in grown):
            continue
        for other in (root.folder for root in grown):
            for inner, outer in ((other, folder), (folder, other)):
                if inner.is_relative_to(outer):
                    raise ValueError(
                        f"{inner} is inside {outer}: an index holds a file once. Name one of them"
                    )
        grown.append(Root(_unique(readable(folder.name) or "root", {root.label for root in grown}), folder))
    return tuple(grown)


def without_folders(roots: Sequence[Root], folders: Sequence[Path]) -> tuple[Root, ...]:
    """The roots without these folders, which need not exist; `ValueError` for others and for the last one."""
    leaving = {folder.resolve() for folder in folders}
    for folder in sorted(leaving - {root.folder for root in roots}):
        indexed = ", ".join(str(root.folder) for root in roots)
        raise ValueError(f"{folder} is not indexed here; the folders are {indexed}")
    if all(root.folder in leaving for root in roots):
        raise ValueError("cannot remove the last folder. To delete the index, delete its directory")
    return tuple(root for root in roots if root.folder not in leaving)


def list_roots(roots: Sequence[Root]) -> Listing:
    """All files of the roots that can be listed; the others are rejected. `FolderNotFound` if none can."""
    if len(roots) == 1:
        return walk(existing_folder(roots[0].folder))
    listings: list[Listing] = []
    n_missing = 0
    for root in roots:
        try:
            listings.append(walk(existing_folder(root.folder), root.label + "/"))
        except FolderNotFound:
            n_missing += 1
            if n_missing == len(roots):
                raise
            refusal = RejectedFile(root.label, "folder is missing or cannot be listed")
            listings.append(Listing(rejected=(refusal,), folders={root.label: ""}))
    return merge(listings)


def confined(listing: Listing, settings: Mapping[str, str]) -> Listing:
    """The files that belong to the index with these settings: all, unless it is a shard.

    Only the first shard counts skipped files.
    """
    if SHARD not in settings:
        return listing
    number, n_shards = map(int, settings[SHARD].split("/"))
    files = tuple(file for file in listing.files if shard_of(file.document_id, n_shards) == number)
    rejected = tuple(file for file in listing.rejected if shard_of(file.document_id, n_shards) == number)
    return replace(listing, files=files, rejected=rejected, skipped={} if number else listing.skipped)


def _unique(label: str, taken: set[str]) -> str:
    """The label, with the first number that makes it differ from the others in more than case."""
    folded = {other.casefold() for other in taken}
    candidates = (label if number == 1 else f"{label}-{number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate.casefold() not in folded)


# Documents by name


def resolve_document_id(name: str, ids: Collection[str], roots: Sequence[Root] = ()) -> str:
    """The document id of a name: the id, the path of a file below a root, or the end of one id.

    Without `roots` no path is resolved. Raises DocumentNotFound with the closest ids, and ValueError for the
    end of several ids.
    """
    if name in ids:
        return name
    if below := next((each for each, _ in files_named(name, roots) if each in ids), None):
        return below
    ending = sorted(each for each in ids if each.endswith("/" + name))
    if len(ending) > 1:
        listed = ", ".join(ending[:5]) + (", …" if len(ending) > 5 else "")
        raise ValueError(f"{name!r} is the end of {len(ending)} documents: {listed}")
    if not ending:
        raise DocumentNotFound(f"no document is called {name!r}{nearest_ids(name, ids)}")
    return ending[0]


def files_named(name: str, roots: Sequence[Root]) -> Iterator[tuple[str, Path]]:
    """The ids and files below the roots that a path may mean: from the current directory or from a root."""
    path = Path(os.path.normpath(Path.cwd() / name))
    for place in dict.fromkeys((path, path.parent.resolve() / path.name)):
        for root in roots:
            if place != root.folder and place.is_relative_to(root.folder):
                yield id_in(root, place.relative_to(root.folder).as_posix(), roots), place
    inner = PurePosixPath(os.path.normpath(name)).as_posix()
    if inner != "." and not inner.startswith(("/", "..")):
        yield from ((id_in(root, inner, roots), root.folder / inner) for root in roots)


def file_of(document_id: str, roots: Sequence[Root]) -> tuple[Root | None, str]:
    """The root that an id belongs to, None when it was removed, and the path of the file below it."""
    if len(roots) == 1:
        return roots[0], document_id
    label, _, place = document_id.partition("/")
    return next((root for root in roots if root.label == label), None), place


def id_in(root: Root, place: str, roots: Sequence[Root]) -> str:
    """The document id of a place below a root."""
    return f"{root.label}/{place}" if len(roots) > 1 else place


def nearest_ids(name: str, ids: Collection[str]) -> str:
    """The ids closest to a name, by the whole id or by its last part."""
    by_name: dict[str, str] = {}
    for document_id in sorted(ids)[:MAX_COMPARED]:
        by_name.setdefault(document_id.rpartition("/")[2].casefold(), document_id)
        by_name[document_id.casefold()] = document_id
    typed = [name.casefold(), name.rpartition("/")[2].casefold()]
    close = [by_name[match] for each in typed for match in get_close_matches(each, by_name)]
    return f"; the nearest are {', '.join(list(dict.fromkeys(close))[:3])}" if close else ""
