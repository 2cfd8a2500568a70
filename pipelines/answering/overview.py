"""An overview of documents: counts by format, dates, and a line with headings for each document or folder."""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from spanwise.types import QUOTE, GeneratorUse, Overview, OverviewEntry, Summary, SummaryOptions

from ...corpora.front_matter import without_tags
from ...corpora.reading import names_of
from ...index.schema import Description
from ...index.snapshot import Snapshot
from ..folders import Root, resolve_document_id
from .filters import DATE

if TYPE_CHECKING:
    from ...index.protocol import Ids
    from ..library.open_commit import OpenCommit

MAX_ENTRIES = 20  # of an overview; also headings of an entry
MAX_LINE = 150  # characters
DAY = re.compile(r"(?<!\w)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")


def overview_summary(commit: OpenCommit, options: SummaryOptions, roots: Sequence[Root]) -> Summary:
    """The overview of the document, or of all documents that the filter selects."""
    began = time.perf_counter()
    selection = commit.selection(options.where)
    selected = selection.passage_ids if selection else None
    ids = _passage_ids(commit.snapshot, selected, options, roots)
    return Summary(
        question="",
        sentences=(),
        dropped=(),
        generator=GeneratorUse(QUOTE),
        passages=len(ids),
        nearest=(),
        retriever="",
        overview=overview(commit.snapshot, ids) if ids else None,
        scope=selection.scope if selection else None,
        timings_ms={"retrieve": (time.perf_counter() - began) * 1000, "write": 0.0},
    )


def _passage_ids(
    snapshot: Snapshot, selected: Ids | None, options: SummaryOptions, roots: Sequence[Root]
) -> list[int]:
    """All passages of a document, or the selected ones, by document and place."""
    if options.document is not None:
        document_id = resolve_document_id(options.document, set(snapshot.document_ids()), roots)
        selected = snapshot.passage_ids_of([document_id])
    among = None if selected is None else set(selected.tolist())
    return [number for number in snapshot.passage_ids().tolist() if among is None or number in among]


def overview(snapshot: Snapshot, passage_ids: Sequence[int]) -> Overview:
    """The overview of the documents of these passages, by folder if there are many."""
    n_passages = Counter(document_id for document_id, _, _ in snapshot.places(passage_ids))
    documents = [document for document in snapshot.descriptions() if document.id in n_passages]
    groups = _groups(documents)
    sizes = {name: sum(n_passages[document.id] for document in group) for name, group in groups.items()}
    longest = sorted(groups, key=lambda name: -sizes[name])[:MAX_ENTRIES]
    return Overview(
        documents=len(documents),
        passages=n_passages.total(),
        formats=dict(Counter(names_of(document.media_type)[0] for document in documents).most_common()),
        dates=_period(documents),
        entries=tuple(_entry(snapshot, name, groups[name], n_passages) for name in sorted(longest)),
    )


def _groups(documents: Sequence[Description]) -> Mapping[str, Sequence[Description]]:
    """Documents by id if they are few, else by folder, at the deepest level with few folders."""
    parents = {document.id: PurePosixPath(document.id).parent.parts for document in documents}
    deepest = max(map(len, parents.values())) if len(documents) > MAX_ENTRIES else 0
    for depth in range(deepest, 0, -1):
        folders = defaultdict[str, list[Description]](list)
        for document in documents:
            folders["/".join((*parents[document.id][:depth], ""))].append(document)
        if 1 < len(folders) <= MAX_ENTRIES:
            return folders
    return {document.id: [document] for document in documents}


def _entry(
    snapshot: Snapshot, name: str, documents: Sequence[Description], n_passages: Mapping[str, int]
) -> OverviewEntry:
    """The entry of a document, with its top headings, or of a folder, with its documents' titles."""
    title = ""
    if name == documents[0].id:
        title = documents[0].title
        headings = snapshot.document(name).headings
        levels = sorted(heading.level for heading in headings)
        few = [level for level in levels if bisect_right(levels, level) <= MAX_ENTRIES] or levels[:1]
        words = [heading.text for heading in headings if heading.level <= few[-1] and heading.text != title]
    else:
        words = [each.title for each in sorted(documents, key=lambda each: -n_passages[each.id])]
    shown = tuple(filter(None, (without_tags(text).strip(" #*>-=_") for text in words)))
    return OverviewEntry(
        name=name,
        title=title,
        documents=len(documents),
        passages=sum(n_passages[document.id] for document in documents),
        dates=_period(documents),
        headings=shown[:MAX_ENTRIES],
    )


def _period(documents: Sequence[Description]) -> tuple[str, ...]:
    """The first and the last day in metadata or names of documents; one day if they are the same."""
    texts = [
        " ".join([document.metadata.get(DATE, ""), *document.metadata.values(), document.id])
        for document in documents
    ]
    days = [day[0] for day in map(DAY.search, texts) if day]
    return tuple(sorted({min(days), max(days)})) if days else ()


def overview_lines(overview: Overview) -> list[str]:
    """The overview as it is printed, in at most 25 lines."""
    formats = ", ".join(f"{n} {name}" for name, n in overview.formats.items())
    lines = [f"documents: {overview.documents:,} ({formats}), passages: {overview.passages:,}"]
    if overview.dates:
        lines.append(f"dates: {' to '.join(overview.dates)}")
    for entry in overview.entries:
        n_documents = f"{entry.documents} documents" if entry.documents > 1 else ""
        n_passages = f"{entry.passages} passage{'s' * (entry.passages > 1)}"
        facts = ", ".join(filter(None, [entry.title, n_documents, n_passages, " to ".join(entry.dates)]))
        line = f"{entry.name or './'}  {facts}"
        if len(overview.entries) == 1:
            return [*lines, line, *(f"  {heading}" for heading in entry.headings)]
        line = ": ".join(filter(None, (line, "; ".join(entry.headings))))
        lines.append(line if len(line) <= MAX_LINE else line[:MAX_LINE].rpartition(" ")[0] + " …")
    n_unlisted = overview.documents - sum(entry.documents for entry in overview.entries)
    if n_unlisted:
        lines.append(f"documents not listed: {n_unlisted}")
    return lines
