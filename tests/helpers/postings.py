"""Segments of postings that were never on a disk."""

from pathlib import Path

from spanwise.index.postings import PostingsBuilder, PostingsSegment
from spanwise.index.segment import Segment


class Unchecked(Segment):
    """A segment that was never on a disk, so that there is no digest to compare."""

    def check(self, *names: str) -> None:
        pass


def segment_of(passages, first_id=1):
    builder = PostingsBuilder()
    for number, terms in enumerate(passages, start=first_id):
        builder.add(number, terms)
    return PostingsSegment(Unchecked(Path("x"), "postings", "", builder.columns(), {}, b""))
