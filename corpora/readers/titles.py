"""What a document calls itself, when its format does not say: its first line, or the name of its file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

MAX_TITLE = 120  # characters
# What programs put where a title belongs: file names, templates, nothing.
PLACEHOLDER = re.compile(r"untitled|document\d*|.*\.(?:docx?|dvi|tex|pdf|indd|rtf|txt|qxd)", re.I)


def choose_title(*candidates: str, document_id: str) -> str:
    """The first candidate with words in it, on one line and cut; at last the file name without suffix."""
    for candidate in candidates:
        words = shorten(candidate)
        if words and not PLACEHOLDER.fullmatch(words):
            return words
    return PurePosixPath(document_id).stem


def first_line(text: str) -> str:
    """The first line of the text that is not blank, or the empty string."""
    start = len(text) - len(text.lstrip())
    return text[start : start + 10 * MAX_TITLE].partition("\n")[0]


def shorten(title: str) -> str:
    """The title on one line, cut at a word to `MAX_TITLE` characters."""
    words = " ".join(title[: 20 * MAX_TITLE].split()).removeprefix("Microsoft Word - ")
    if len(words) <= MAX_TITLE:
        return words
    return words[: MAX_TITLE - 1].rpartition(" ")[0] or words[: MAX_TITLE - 1]
