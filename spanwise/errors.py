"""The error tree. Everything a careful user may want to catch has a name here.

SpanwiseError
├── FolderNotFound          the folder to index does not exist or is not a folder
├── IndexNotFound           no index at the place named, nor upward from it
├── IndexEmpty              the index holds no passages, so nothing can be searched
├── IndexLocked             another process is writing to the index
├── IndexClosed             the library was closed, and is used again
├── IndexReadOnly           the system does not let this user open or write the index
├── IndexCorrupt            a file of the index is damaged or missing; the message names it
├── FormatTooNew            the index was written by a newer version
├── FormatTooOld            the index was written by an older version and must be made again
├── ModelMismatch           the index was written with another model; the message says what mends it
├── ModelNotFound           a model's files are not where they were looked for
├── ModelRejected           a model's files are not what they should be (digest, format, NaN)
├── FilterUnknown           a filter names a file type or a metadata key that no document has
├── WindowExceeded          with --strict: parts of documents lie beyond the encoder's window
├── DocumentNotFound        no document, and no file, has the name given; lists the nearest ones
├── DocumentChanged         a file is gone, or no longer what it was when it was indexed
├── DocumentRejected        a file cannot be read as a document
├── DataMalformed           a data set or predictions file does not have the form it should have
├── VectorRejected          a vector is NaN, infinite, zero or of the wrong width
├── ContractBroken          a retriever or reader of your own fails, or returns what it must not
├── StorageFull             the disk is full
├── GenerationFailed        a generator failed before its text was whole
├── ExtraMissing            what is asked for needs packages of an extra that is not installed
└── OutOfMemory             one item alone does not fit into the device's memory

Wrong arguments (an empty question, k = 0) raise `ValueError` with the value and what was expected.
The command line prints any of these as one line and exits with 1; wrong usage exits with 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SpanwiseError(Exception):
    """The root of the tree: something named went wrong; the message says what and what to do."""


class FolderNotFound(SpanwiseError):
    """The folder to index does not exist or is not a folder."""


class IndexNotFound(SpanwiseError):
    """There is no index at the place named, nor upward from it."""


class IndexEmpty(SpanwiseError):
    """The index holds no passages, so nothing can be searched."""


class IndexLocked(SpanwiseError):
    """Another process is writing to the index."""


class IndexClosed(SpanwiseError):
    """The library was closed and is used again; the message names its index."""


class IndexReadOnly(SpanwiseError):
    """The system does not let this user open or write the index."""


class IndexCorrupt(SpanwiseError):
    """A file of the index is damaged or missing; the message names it."""


class FormatTooNew(SpanwiseError):
    """The index was written by a newer version of spanwise."""


class FormatTooOld(SpanwiseError):
    """The index was written by an older version of the format; the message says how to make it again."""


class ModelMismatch(SpanwiseError):
    """The index was written with another model; the message says which command mends it."""


class ModelNotFound(SpanwiseError):
    """A model's files are not where they were looked for."""


class ModelRejected(SpanwiseError):
    """A model's files are not what they should be: wrong digest, unsafe format, or not finite."""


class FilterUnknown(SpanwiseError):
    """A filter names a file type or a metadata key that no document has; lists those there are."""


class WindowExceeded(SpanwiseError):
    """Parts of documents lie beyond the encoder's window, and it was asked that none should."""


class DocumentNotFound(SpanwiseError):
    """No document of the index, and no file, has the name given; the message lists the nearest ones."""


class DocumentChanged(SpanwiseError):
    """A document's file is gone, or no longer holds what was indexed; the message says what mends it."""


class DocumentRejected(SpanwiseError):
    """A file cannot be read as a document; the message says why."""


class DataMalformed(SpanwiseError):
    """A data set or predictions file does not have the form it should have."""


class VectorRejected(SpanwiseError):
    """A vector is NaN, infinite, zero or of the wrong width; nothing was stored."""


class ContractBroken(SpanwiseError):
    """A retriever or reader of your own fails, or returns what it must not; the message names it."""


class StorageFull(SpanwiseError):
    """The disk is full; the last commit is intact."""


class GenerationFailed(SpanwiseError):
    """A generator failed before its text was whole; the message says where and how. No part of it is kept."""


class ExtraMissing(SpanwiseError):
    """What is asked for needs packages that are not installed; the message says how to install them."""


class OutOfMemory(SpanwiseError):
    """One item alone does not fit into the device's memory; the message gives its length."""


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turns an import that fails inside into an ExtraMissing with the command that installs the extra."""
    try:
        yield
    except ImportError as error:
        raise ExtraMissing(missing(extra, str(error))) from error


def missing(extra: str, why: str) -> str:
    """The message for a missing extra.

    >>> missing("mcp", "No module named 'mcp'")
    "No module named 'mcp'; install it with: pip install 'spanwise[mcp]'"
    """
    return f"{why}; install it with: pip install 'spanwise[{extra}]'"
