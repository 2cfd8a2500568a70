"""The errors that a careful user may want to catch; each message says what failed, why, and what to do.

Wrong arguments (k = 0) raise `ValueError` with the value and what was expected. The
command line prints any of these as one line and exits with 1; wrong usage exits with 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SpanwiseError(Exception):
    """The base of all errors here."""


class QuestionEmpty(SpanwiseError, ValueError):
    """The question has no characters but white space."""


class FolderNotFound(SpanwiseError):
    """The folder to index does not exist or is not a folder."""


class IndexNotFound(SpanwiseError):
    """There is no index at the given place, nor above it."""


class IndexEmpty(SpanwiseError):
    """The index holds no passages, so nothing can be searched."""


class IndexLocked(SpanwiseError):
    """Another process is writing to the index."""


class ShardsMissing(SpanwiseError):
    """Shards of the index cannot be reached, and the caller wants an answer from all of them."""


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
    """The index was written with another model; the message names the command that fixes it."""


class ModelNotFound(SpanwiseError):
    """A model's files were not found."""


class ModelRejected(SpanwiseError):
    """A model's files are invalid: wrong digest, unsafe format, or not finite."""


class FilterUnknown(SpanwiseError):
    """A filter names a file type or a metadata key that no document has; the message lists the known ones."""


class DocumentNotFound(SpanwiseError):
    """No document of the index, and no file, has the given name; the message lists the nearest ones."""


class DocumentChanged(SpanwiseError):
    """A document's file is missing or differs from the indexed one; the message says what fixes it."""


class DocumentRejected(SpanwiseError):
    """A file cannot be read as a document; the message says why."""


class DataMalformed(SpanwiseError):
    """A data set or predictions file has the wrong form."""


class VectorRejected(SpanwiseError):
    """A vector is NaN, infinite, zero or of the wrong width; nothing was stored."""


class ContractBroken(SpanwiseError):
    """A user's own retriever or reader failed, or returned something invalid; the message names it."""


class StorageFull(SpanwiseError):
    """The disk is full; the last commit is intact."""


class GenerationFailed(SpanwiseError):
    """A generator failed before its text was complete; no part of the text is kept."""


class ExtraMissing(SpanwiseError):
    """An optional package is not installed; the message says how to install it."""


class OutOfMemory(SpanwiseError):
    """One item alone does not fit into the device's memory; the message gives its length."""


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turns an import that fails inside into an ExtraMissing with the command that installs the extra."""
    try:
        yield
    except ImportError as error:
        raise ExtraMissing(f"{error}; install it with: pip install 'spanwise[{extra}]'") from error
