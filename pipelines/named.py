"""Which document a person means: by its id, by a path, or by the end of its id."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from spanwise.errors import DocumentNotFound

from .roots import Root

MOST_COMPARED = 50_000  # ids that a name without a match is compared with, for suggestions


@dataclass(frozen=True, slots=True)
class Named:
    """A document by the id that it has, or would have; for a file outside of all roots, its path.

    `root` and `place` say where its file belongs; `root` is None where there is no such folder.
    """

    id: str
    root: Root | None = None
    place: str = ""


def named(given: str, ids: Collection[str], roots: Sequence[Root]) -> Named:
    """What is meant: an id of `ids`, a path below a root, the end of one id, a file anywhere; in this order.

    Paths are taken from the current directory, then from each root. Raises DocumentNotFound with the nearest
    names, and ValueError for the end of several ids and for a folder.
    """
    below = [_below(root, place, roots) for root, place in _places(given, roots)]
    found = [Named(given, *home_of(given, roots))] if given in ids else []
    found += [one for one in below if one.id in ids or _exists(one)]
    found = found or _by_end(given, ids, roots)
    outside = _absolute(given)
    if not found and given and os.path.lexists(outside):
        found = [Named(str(outside))]
    if not found:
        raise DocumentNotFound(f"no document and no file is called {given!r}{_nearest(given, ids)}")
    one = found[0]
    if one.id not in ids and (one.root.folder / one.place if one.root else outside).is_dir():
        raise ValueError(f"{given} is a folder: name a document in it")
    return one


def named_id(given: str, ids: Collection[str]) -> str:
    """The id meant: itself, or the one that ends so; made for requests, it never looks at the disk.

    Raises DocumentNotFound with the nearest ids, and ValueError for the end of several.
    """
    found = [Named(given)] if given in ids else _by_end(given, ids, ())
    if not found:
        raise DocumentNotFound(f"no document is called {given!r}{_nearest(given, ids)}")
    return found[0].id


def _places(given: str, roots: Sequence[Root]) -> Iterable[tuple[Root, str]]:
    """Where below the roots a path may lead: as spelled, with its folders' links followed, or from a root."""
    path = _absolute(given)
    for place in dict.fromkeys((path, path.parent.resolve() / path.name)):
        yield from (
            (root, place.relative_to(root.folder).as_posix())
            for root in roots
            if place != root.folder and place.is_relative_to(root.folder)
        )
    inner = PurePosixPath(os.path.normpath(given)).as_posix()
    if inner == "." or inner.startswith(("/", "..")):
        return
    label, _, rest = inner.partition("/")
    yield from ((root, inner) for root in roots)
    yield from ((root, rest) for root in roots[1:] and roots if rest and root.label == label)


def _absolute(given: str) -> Path:
    """The path from the current directory, without following a link."""
    return Path(os.path.normpath(Path.cwd() / given))


def _below(root: Root, place: str, roots: Sequence[Root]) -> Named:
    return Named(f"{root.label}/{place}" if len(roots) > 1 else place, root, place)


def home_of(document_id: str, roots: Sequence[Root]) -> tuple[Root | None, str]:
    """The root that an id belongs to, None where there is none any more, and the path below it."""
    if len(roots) == 1:
        return roots[0], document_id
    label, _, place = document_id.partition("/")
    return next((root for root in roots if root.label == label), None), place


def _exists(one: Named) -> bool:
    return one.root is not None and os.path.lexists(one.root.folder / one.place)


def _by_end(given: str, ids: Collection[str], roots: Sequence[Root]) -> list[Named]:
    ending = sorted(name for name in ids if name.endswith("/" + given))
    if len(ending) > 1:
        listed = ", ".join(ending[:5]) + (", …" if len(ending) > 5 else "")
        raise ValueError(f"{given!r} is the end of {len(ending)} documents: {listed}")
    return [Named(name, *home_of(name, roots)) for name in ending]


def _nearest(given: str, ids: Collection[str]) -> str:
    """The ids most like what was given, by their whole or by their last part."""
    by_name: dict[str, str] = {}
    for document_id in sorted(ids)[:MOST_COMPARED]:
        by_name.setdefault(document_id.rpartition("/")[2].casefold(), document_id)
        by_name[document_id.casefold()] = document_id
    wanted = [given.casefold(), given.rpartition("/")[2].casefold()]
    close = [by_name[name] for each in wanted for name in get_close_matches(each, by_name)]
    return f"; the nearest are {', '.join(list(dict.fromkeys(close))[:3])}" if close else ""
