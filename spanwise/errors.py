"""The errors that a careful user may want to catch; each message says what failed, why, and what to do.

A wrong argument, such as k = 0, raises `ValueError` with the value and the expected one. The command line
prints any of these errors in one line and exits with 1, and with 2 for a `ValueError`.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class SpanwiseError(Exception):
    """The base of all errors here."""


class QuestionEmpty(SpanwiseError, ValueError):
    """The question is empty or only white space."""


class FolderNotFound(SpanwiseError):
    """The folder to index does not exist or is not a folder."""


class IndexNotFound(SpanwiseError):
    """There is no index at the named place or above it."""


class IndexEmpty(SpanwiseError):
    """The index holds no passages, so nothing can be searched."""


class IndexLocked(SpanwiseError):
    """Another process is writing to the index."""


class ShardsMissing(SpanwiseError):
    """Shards of the index cannot be reached: all of them, or some where `require_all` is set."""


class IndexClosed(SpanwiseError):
    """The library was used after it was closed; the message names its index."""


class IndexReadOnly(SpanwiseError):
    """The system does not let this user open or write the index."""


class IndexCorrupt(SpanwiseError):
    """A file of the index is damaged or missing; the message names it."""


class FormatTooNew(SpanwiseError):
    """The index was written by a newer version of spanwise."""


class FormatTooOld(SpanwiseError):
    """The index has an older format; the message says how to build it again."""


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
    """A retriever or reader of the user failed or returned something invalid; the message names it."""


class StorageFull(SpanwiseError):
    """The disk is full; the last commit is intact."""


class GenerationFailed(SpanwiseError):
    """A generator failed before its text was complete; the text is discarded."""


class ExtraMissing(SpanwiseError):
    """An optional package is not installed; the message says how to install it."""


class OutOfMemory(SpanwiseError):
    """A single item does not fit into the device's memory; the message gives its length."""


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn an ImportError into an ExtraMissing with the command that installs the extra."""
    try:
        yield
    except ImportError as error:
        raise ExtraMissing(f"{error}; install it with: pip install 'spanwise[{extra}]'") from error
