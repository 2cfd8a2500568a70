"""A test collection: documents, queries, and judgements of which documents answer which query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from spanwise.errors import DataMalformed

from .packed import malformed

_NUMBER = re.compile(r"\s*([0-9]{1,18})\s*")

Qrels = Mapping[str, Mapping[str, int]]
"""The grade of each judged document by query id and document id; above 0 is relevant."""
QrelsReader = Callable[[Path], Qrels]
"""Reads judgements in the TREC format or that of BEIR. It is handed in: those files belong to `eval`."""
QrelsWriter = Callable[[Path, Qrels], None]
"""Writes judgements in the format of BEIR; handed in as well."""


@dataclass(frozen=True, slots=True)
class CollectionDocument:
    """A document to rank; `title` is the empty string where there is none, and so may `text` be."""

    id: str
    title: str
    text: str

    @property
    def titled(self) -> str:
        """The title and the text, a line each, as a passage is searched with the heading above it."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Query:
    """A question or topic; `text` is one line and not empty."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Collection:
    """A whole test collection, ids unique. `notes` say what is odd about its files, a line each."""

    name: str
    documents: tuple[CollectionDocument, ...]
    queries: tuple[Query, ...]
    qrels: Qrels
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        folder: Path,
        documents: Iterable[CollectionDocument],
        queries: Iterable[Query],
        qrels: Qrels,
        notes: Iterable[str] = (),
    ) -> Collection:
        """The collection of a folder; `DataMalformed` when it holds no documents or no queries."""
        given = (tuple(documents), tuple(queries))
        for kind, values in zip(("documents", "queries"), given, strict=True):
            if not values:
                raise DataMalformed(f"{folder}: holds no {kind}")
        return cls(folder.resolve().name, *given, qrels, tuple(notes))

    @property
    def judged(self) -> tuple[Query, ...]:
        """The queries that have judgements, in their order."""
        return tuple(query for query in self.queries if query.id in self.qrels)

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is missing somewhere: a line for each kind of gap, with a count."""
        known, asked = {each.id for each in self.documents}, {each.id for each in self.queries}
        judged = [name for documents in self.qrels.values() for name in documents]
        counts = {
            "documents without text": sum(not f"{d.title}{d.text}".strip() for d in self.documents),
            "queries without judgements, left out": len(asked - set(self.qrels)),
            "judged queries without text, left out": len(set(self.qrels) - asked),
            "judgements of documents that are not there": sum(name not in known for name in judged),
        }
        return tuple(f"{what}: {count:,}" for what, count in counts.items() if count)


class Identified(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> str:
        """The id."""


Item = TypeVar("Item", bound=Identified)


def unique(items: Iterable[tuple[str, Item]]) -> Iterator[Item]:
    """The items, given with their places; `DataMalformed` at an id that is empty or there already."""
    seen: set[str] = set()
    for place, item in items:
        if not item.id.strip():
            raise malformed(place, "the id is empty")
        if item.id in seen:
            raise malformed(place, f"the id {item.id!r:.80} is given twice")
        seen.add(item.id)
        yield item


def number_id(text: str) -> str | None:
    """An id that is a number, without leading zeros; None for anything else.

    >>> number_id(" 007")
    '7'
    """
    found = _NUMBER.fullmatch(text)
    return str(int(found[1])) if found else None


def query_at(place: str, name: str, text: str) -> tuple[str, Query]:
    """A query with its place; `DataMalformed` when there is nothing to search for in it."""
    if not text.strip():
        raise malformed(place, f"the query {name!r:.80} is empty")
    return place, Query(name, " ".join(text.split()))
