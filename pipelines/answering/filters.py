"""The documents and passages that a filter selects, without reading a text.

No part of a filter gets into an SQL statement: types, times and metadata are compared here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from itertools import compress
from math import inf
from pathlib import PurePosixPath

from spanwise.errors import FilterUnknown
from spanwise.types import Document, Filter, FilterResult

from ...corpora.front_matter import inner_suffix
from ...corpora.ignore import IGNORE_FILE, composed, path_matcher
from ...corpora.reading import DOCUMENT_SUFFIXES, names_of, type_name
from ...index.protocol import Ids
from ...index.schema import Description
from ...index.snapshot import Snapshot

DATE = "date"  # a metadata key of documents
DAY = re.compile(r"(?<!\w)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The passages that a filter selects in one commit, ids ascending, and the number of documents."""

    scope: FilterResult
    passage_ids: Ids


def select(snapshot: Snapshot, where: Filter) -> Selection:
    """The documents and passages that the filter selects, perhaps none.

    `FilterUnknown` for a type or metadata key that no document has. `ValueError` for a malformed pattern or
    date.
    """
    chosen = list(filter(path_matcher(where.paths), _by_description(snapshot, where)))
    passage_ids = snapshot.passage_ids_of(chosen)
    near = "" if chosen or not where.paths else _nearest_path(where.paths[0], snapshot.document_ids())
    scope = FilterResult(where, len(chosen), snapshot.n_documents, len(passage_ids), near)
    return Selection(scope, passage_ids)


def count_unread(snapshot: Snapshot, where: Filter | None) -> int:
    """The number of files of a document format, not empty, that were rejected and that a filter may select.

    They have no metadata, and their date is the time of the file.
    """
    where = where or Filter()
    types = tuple(f".{name}" for each in where.types for name in names_of(type_name(each)))
    files = [
        Description(name, "", "", file.mtime_ns or 1, {})
        for name, file in snapshot.unread_files("rejected").items()
        if inner_suffix(name) in DOCUMENT_SUFFIXES and name.lower().endswith(types or "")
        if file.size or not file.mtime_ns  # without a time it could not be opened
    ]
    is_chosen = path_matcher((*where.paths, f"!{IGNORE_FILE}"))
    return sum(is_chosen(file.id) for file in compress(files, _in_period(files, where)))


def _nearest_path(pattern: str, document_ids: Iterable[str]) -> str:
    """The closest pattern of a folder, a suffix or a document; "" if none is close.

    >>> _nearest_path("standards/**", ["source/standards/pair.md"]), _nearest_path("*.mdd", ["a/b.md"])
    ('source/standards/**', '*.md')
    """
    near: dict[str, str] = {}
    for path in map(PurePosixPath, document_ids):
        near |= {f"*{path.suffix}": f"*{path.suffix}", str(path): str(path), path.name: str(path)}
        for folder in path.parents[:-1]:
            near |= dict.fromkeys((folder.name, str(folder)), f"{folder}/**")
    typed = pattern.strip("/").removesuffix("/**").removesuffix("/*")
    closest = get_close_matches(typed, near, 1) or get_close_matches(typed.rpartition("/")[2], near, 1)
    return near[closest[0]] if closest else ""


def conditions_of(where: Filter) -> dict[str, Filter]:
    """Each condition of a filter in words, with a filter that has only this condition.

    >>> list(conditions_of(Filter(paths=("*.md", "!a/"), after="2024-01-31")))
    ['path *.md, !a/', 'after 2024-01-31']
    """
    conditions = {}
    if where.paths:
        conditions[f"path {', '.join(where.paths)}"] = Filter(paths=where.paths)
    if where.types:
        conditions[f"type {', '.join(where.types)}"] = Filter(types=where.types)
    if where.after is not None:
        conditions[f"after {where.after}"] = Filter(after=where.after)
    if where.before is not None:
        conditions[f"before {where.before}"] = Filter(before=where.before)
    return conditions | {
        f"{key} = {value}": Filter(metadata={key: value}) for key, value in where.metadata.items()
    }


def moment_ns(value: date | str) -> int:
    """Nanoseconds since 1970, in whole microseconds. A date means its start; a time without a zone is local.

    Raises `ValueError` for a value that is neither a date nor ISO 8601.

    >>> moment_ns("1970-01-02T00:00+00:00")
    86400000000000
    """
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else value.isoformat())
        return (moment.astimezone(UTC) - EPOCH) // timedelta(microseconds=1) * 1000
    except (AttributeError, ValueError, OverflowError, OSError):
        raise ValueError(f"invalid date {value!r}. Write it as 2024-01-31 or 2024-01-31T18:00") from None


def document_moment_ns(mtime_ns: int, metadata: Mapping[str, str]) -> int | None:
    """The date in the metadata, else the time of the file; None if there is neither."""
    if DATE in metadata:
        try:
            return moment_ns(metadata[DATE])
        except ValueError:
            pass  # a date in another format: the file's time is used
    return mtime_ns or None


def _by_description(snapshot: Snapshot, where: Filter) -> Iterable[str]:
    """The documents that meet all conditions except those on paths."""
    conditions: list[Iterable[bool]] = []
    in_time = where.after is not None or where.before is not None
    if not (where.types or where.metadata or in_time):
        return snapshot.document_ids()
    documents = snapshot.descriptions()
    if where.types:
        conditions.append(_of_types(documents, where.types))
    if in_time:
        conditions.append(_in_period(documents, where))
    if where.metadata:
        conditions.append(_with_metadata(documents, where.metadata))
    return compress((document.id for document in documents), map(all, zip(*conditions, strict=True)))


def _of_types(documents: Sequence[Description], types: Sequence[str]) -> list[bool]:
    """True for each document whose media type or suffix is one of `types`."""
    names = {
        media_type: names_of(media_type) for media_type in {document.media_type for document in documents}
    }
    selected = {type_name(name) for name in types}
    suffixes = tuple(f".{name}" for name in selected)
    files = [document.id.lower() for document in documents]
    for name in sorted(selected.difference(*names.values())):
        if not any(file.endswith(f".{name}") for file in files):
            listed = ", ".join(sorted(each[0] for each in names.values()))
            raise FilterUnknown(f"no document is of type {name!r}; the types here are {listed}")
    media_types = {media_type for media_type, each in names.items() if selected.intersection(each)}
    return [
        document.media_type in media_types or file.endswith(suffixes)
        for document, file in zip(documents, files, strict=True)
    ]


def _in_period(documents: Sequence[Description], where: Filter) -> list[bool]:
    after = -inf if where.after is None else moment_ns(where.after)
    before = inf if where.before is None else moment_ns(where.before)
    if not after < before:
        raise ValueError(f"no time is after {where.after} and before {where.before}")
    moments = (document_moment_ns(document.mtime_ns, document.metadata) for document in documents)
    return [moment is not None and after <= moment < before for moment in moments]


def _with_metadata(documents: Sequence[Description], required: Mapping[str, str]) -> list[bool]:
    keys = sorted({key for document in documents for key in document.metadata})
    selected = [True] * len(documents)
    for key, value in required.items():
        spellings = [other for other in keys if other.casefold() == key.casefold()]
        if not spellings:
            raise FilterUnknown(f"no document has metadata {key!r}; the keys here are {', '.join(keys)}")
        value = composed(value)
        for row, document in enumerate(documents):
            selected[row] &= any(composed(document.metadata.get(other, "")) == value for other in spellings)
    return selected


def day_of(document: Description | Document) -> str:
    """The first day in the metadata or the name of a document, such as "2024-03-01"; "" without one."""
    day = DAY.search(" ".join([document.metadata.get(DATE, ""), *document.metadata.values(), document.id]))
    return day[0] if day else ""
