"""Checks that hold for every document of a reader, and for its passages."""

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

from spanwise.corpora.passages import split
from spanwise.corpora.readers.builder import TextBuilder, build_document
from spanwise.corpora.sentences import MAX_MARKS, is_mark
from spanwise.types import Document, blanked


def check(document: Document, words: int = 8, overlap: int = 3) -> None:
    """Its structure fits its text; its passages quote it exactly, in order, and hold what is not left out."""
    check_structure(document)
    text = document.text
    readable = blanked(text, document.left_out)
    passages = split(document, words, overlap)
    assert [text[p.start : p.end] for p in passages] == [p.text for p in passages]
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(passages))
    reached = 0
    for passage in passages:
        assert not readable[reached : passage.start].strip()
        assert passage.line == 1 + len(re.findall(r"\r\n?|\n", text[: passage.start]))
        assert not parts_character(text, passage.start)
        assert not parts_character(text, passage.end)
        reached = passage.end
    assert not readable[reached:].strip()
    assert split(document, words, overlap) == passages


def check_structure(document: Document) -> None:
    """The text can be encoded; headings, labels and pages start inside it, labels and pages in order."""
    document.text.encode()
    length = len(document.text)
    assert document.text.strip()
    assert all(0 <= heading.start < length and heading.level >= 1 for heading in document.headings)
    assert all(0 <= label.start < length for label in document.labels)
    assert all(a.start < b.start for a, b in pairwise(document.labels))
    assert all(0 <= start <= length for start in document.page_starts)
    assert list(document.page_starts) == sorted(document.page_starts)
    places = [0, *(place for bounds in document.left_out for place in bounds), length]
    assert places == sorted(places)


def parts_character(text: str, place: int) -> bool:
    """True when a cut at this place parts a combining mark from its character.

    A character in real text has at most `MAX_MARKS` marks; a longer row must be cut somewhere.
    """
    if not 0 < place < len(text) or not is_mark(text[place]):
        return False
    before = text[max(0, place - MAX_MARKS) : place]
    base = before.rstrip("".join(filter(is_mark, before)))
    return bool(base) and not unicodedata.category(base[-1]).startswith(("C", "Zl", "Zp"))


def documents_of(read: Callable[[bytes], TextBuilder]) -> Callable[[bytes, str], Document]:
    """A function from the bytes and the name of a file to the document of a reader."""
    return lambda data, name: build_document(read(data), data, name)
