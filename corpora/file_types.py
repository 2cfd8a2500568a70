"""File types by the names that people have for them: "pdf", "md", "txt"."""

from __future__ import annotations

NAMES = {
    "application/epub+zip": ("epub",),
    "application/json": ("json",),
    "application/pdf": ("pdf",),
    "application/rtf": ("rtf",),
    "application/vnd.oasis.opendocument.presentation": ("odp",),
    "application/vnd.oasis.opendocument.spreadsheet": ("ods",),
    "application/vnd.oasis.opendocument.text": ("odt",),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ("pptx",),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("xlsx",),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("docx",),
    "application/x-ipynb+json": ("ipynb",),
    "application/x-ndjson": ("jsonl", "ndjson"),
    "application/xml": ("xml",),
    "message/rfc822": ("eml",),
    "text/asciidoc": ("adoc", "asciidoc"),
    "text/csv": ("csv",),
    "text/html": ("html", "htm"),
    "text/markdown": ("md", "markdown"),
    "text/plain": ("txt", "text"),
    "text/tab-separated-values": ("tsv",),
    "text/x-rst": ("rst",),
    "text/x-tex": ("tex", "latex"),
}


def names_of(media_type: str) -> tuple[str, ...]:
    """The names of a media type, the usual one first and its own last.

    >>> names_of("text/markdown")
    ('md', 'markdown', 'text/markdown')
    """
    return (*NAMES.get(media_type, ()), media_type)


def type_name(given: str) -> str:
    """A type as a person spelled it, the way `names_of` and suffixes do.

    >>> type_name(" .PDF")
    'pdf'
    """
    return given.strip().lower().removeprefix(".")
