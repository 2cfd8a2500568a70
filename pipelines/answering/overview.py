"""An overview of documents: counts by format, dates, and a line with headings for each document or folder."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from spanwise.types import Overview, OverviewEntry

from ...corpora.front_matter import without_tags
from ...corpora.reading import names_of
from ...index.schema import Description
from ...index.snapshot import Snapshot
from .filters import DATE

MAX_ENTRIES = 20  # and headings of a document
MAX_LINE = 150  # characters
DAY = re.compile(r"(?<!\w)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")


def overview(snapshot: Snapshot, passage_ids: Sequence[int]) -> Overview:
    """The overview of the documents of these passages, by folder where they are many."""
    counts = Counter(document_id for document_id, _, _ in snapshot.places(passage_ids))
    documents = [one for one in snapshot.descriptions() if one.id in counts]
    groups = _groups(documents)
    longest = sorted(groups, key=lambda name: -sum(counts[one.id] for one in groups[name]))[:MAX_ENTRIES]
    return Overview(
        documents=len(documents),
        passages=counts.total(),
        formats=dict(Counter(names_of(one.media_type)[0] for one in documents).most_common()),
        dates=_period(documents),
        entries=tuple(_entry(snapshot, name, groups[name], counts) for name in sorted(longest)),
    )


def _groups(documents: Sequence[Description]) -> Mapping[str, Sequence[Description]]:
    """Each document by its id where they are few, else those of each folder, as deep as gives few folders."""
    parents = {one.id: PurePosixPath(one.id).parent.parts for one in documents}
    deepest = max(map(len, parents.values())) if len(documents) > MAX_ENTRIES else 0
    for depth in range(deepest, 0, -1):
        folders = defaultdict[str, list[Description]](list)
        for one in documents:
            folders["/".join((*parents[one.id][:depth], ""))].append(one)
        if 1 < len(folders) <= MAX_ENTRIES:
            return folders
    return {one.id: [one] for one in documents}


def _entry(
    snapshot: Snapshot, name: str, documents: Sequence[Description], counts: Mapping[str, int]
) -> OverviewEntry:
    """A document with its headings down to the level at which they are few; a folder with its titles."""
    title, headings = "", [one.title for one in sorted(documents, key=lambda one: -counts[one.id])]
    if name == documents[0].id:
        title, found = documents[0].title, snapshot.document(name).headings
        levels = sorted(one.level for one in found)
        few = [level for level in levels if bisect_right(levels, level) <= MAX_ENTRIES] or levels[:1]
        headings = [one.text for one in found if one.level <= few[-1] and one.text != title]
    words = tuple(filter(None, (without_tags(one).strip(" #*>-=_") for one in headings)))
    size = sum(counts[one.id] for one in documents)
    return OverviewEntry(name, title, len(documents), size, _period(documents), words[:MAX_ENTRIES])


def _period(documents: Sequence[Description]) -> tuple[str, ...]:
    """The first and the last day in metadata or names of documents, once where they are the same."""
    texts = ([one.metadata.get(DATE, ""), *one.metadata.values(), one.id] for one in documents)
    days = [found[0] for each in texts if (found := DAY.search(" ".join(each)))]
    return tuple(sorted({min(days), max(days)})) if days else ()


def overview_lines(found: Overview) -> list[str]:
    """The overview as it is printed, in at most 25 lines."""
    formats = ", ".join(f"{n} {name}" for name, n in found.formats.items())
    lines = [f"documents: {found.documents:,} ({formats}), passages: {found.passages:,}"]
    if found.dates:
        lines.append(f"dates: {' to '.join(found.dates)}")
    for one in found.entries:
        size = f"{one.documents} documents" if one.documents > 1 else ""
        facts = one.title, size, f"{one.passages} passage{'s' * (one.passages > 1)}", " to ".join(one.dates)
        line = f"{one.name or './'}  {', '.join(filter(None, facts))}"
        if len(found.entries) == 1:
            return [*lines, line, *(f"  {heading}" for heading in one.headings)]
        line = ": ".join(filter(None, (line, "; ".join(one.headings))))
        lines.append(line if len(line) <= MAX_LINE else line[:MAX_LINE].rpartition(" ")[0] + " …")
    if more := found.documents - sum(one.documents for one in found.entries):
        lines.append(f"documents not listed: {more}")
    return lines
