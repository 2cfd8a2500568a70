"""Sections of a document, and regions: neighbouring sections that may share passages.

A passage starts where a region starts. Small sections below the same heading are packed into one region up
to the budget of a passage; a section of half a budget or more starts its own. A heading with hardly
anything below it goes with what follows, or else with what precedes: alone it would answer no question.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanwise.types import Document

from .cuts import WORD_WEIGHT, weight

BARE = 15  # a section is bare when its body weighs less than this part of the budget
SMALL = 5  # an opening below this part of the budget goes with its first subsection


@dataclass(slots=True)
class Region:
    """A half-open span of one or more sections; `level` is that of its first heading, 0 without one.

    `body` is its weight without the words of the headings.
    """

    start: int
    end: int
    level: int
    weight: int
    body: int


def regions(document: Document, budget: int) -> list[Region]:
    """Regions in order that cover the text; `budget` is the weight of a passage."""
    packed: list[Region] = []
    for section in sections(document):
        if packed and _packs(packed[-1], section, budget):
            _join(packed[-1], section)
        else:
            packed.append(section)
    kept: list[Region] = []
    for region in packed:
        if kept and _is_bare(region, budget):
            _join(kept[-1], region)
        else:
            kept.append(region)
    return kept


def sections(document: Document) -> list[Region]:
    """One region a heading, from its start to the next heading, and one for what precedes the first."""
    text = document.text
    headings = {heading.start: heading for heading in document.headings}
    starts = sorted({0, *(start for start in headings if start < len(text))})
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        heading = headings.get(start)
        total = weight(text[start:end])
        own = weight(heading.text) + WORD_WEIGHT if heading else 0  # and the mark before it
        found.append(Region(start, end, heading.level if heading else 0, total, max(0, total - own)))
    return found


def _packs(region: Region, section: Region, budget: int) -> bool:
    """True when the section belongs in the region before it, which it must not rise above."""
    if section.level < region.level:
        return False
    if _is_bare(region, budget):
        return True
    if _is_bare(section, budget):
        return False
    if 2 * section.weight < budget and region.weight + section.weight <= budget:
        return True
    return region.weight * SMALL < budget and section.level > region.level


def _is_bare(region: Region, budget: int) -> bool:
    return region.body * BARE < budget


def _join(region: Region, section: Region) -> None:
    region.end = section.end
    region.weight += section.weight
    region.body += section.body
