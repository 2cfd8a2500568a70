"""The child: reads requests from its parent, parses one file for each, answers.

The pipes are moved away from the standard streams first, so that a parser that prints cannot spoil a message
and one that reads finds nothing. The process ends when its parent does.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from ...corpora.passages import split
from ...corpora.reading import Skipped, parse
from ...index.analysis import Analyzer
from ...index.rows import indexed_text
from .frames import BrokenFrame, receive, send
from .limits import Limits
from .wire import document_from, document_header, passage_blocks

Answer = tuple[Mapping[str, object], bytes, bytes, bytes]
NOTHING = (b"", b"", b"")  # the blocks of an answer without a document


def main(limits: Mapping[str, Any], analyzer: Mapping[str, str]) -> None:
    """Answers requests until the parent closes the pipe."""
    requests, answers = _own_pipes()
    held_to, terms_of = Limits(**limits), Analyzer.from_settings(analyzer)
    held_to.confine()
    _end_with_parent(requests)
    send(answers, {"ready": True}, *NOTHING)
    while (request := receive(requests, 1)) is not None:
        header, (data,) = request
        held_to.for_file(len(data)).allow_next_file()
        answer = _answer(header, data, terms_of)
        del request, data
        try:
            send(answers, *answer)
        except (BrokenFrame, UnicodeEncodeError) as error:
            send(answers, {"rejected": f"what its parser made cannot be stored: {error}"}, *NOTHING)
        except MemoryError:
            send(answers, {"out_of_memory": True}, *NOTHING)


def _answer(header: Mapping[str, Any], data: bytes, analyzer: Analyzer) -> Answer:
    """The document with its passages and terms, or why there is none."""
    try:
        document = _document(header, data)
        if isinstance(document, Skipped):
            return {"skipped": document.reason}, *NOTHING
        passages = split(document)
        terms = (analyzer.terms(indexed_text(passage)) for passage in passages)
        spans, lines = passage_blocks(passages, terms)
        return document_header(document), document.text.encode("utf-8"), spans, lines
    except DocumentRejected as error:
        return {"rejected": str(error)}, *NOTHING
    except MemoryError:
        return {"out_of_memory": True}, *NOTHING
    except Exception as error:  # whatever the text does to what comes after its parser costs this file only
        return {"rejected": f"its text cannot be indexed: {type(error).__name__}: {error}"}, *NOTHING


def _document(header: Mapping[str, Any], data: bytes) -> Document | Skipped:
    """The document in a file, or the one that was stored before, as the request says."""
    if "stored" in header:
        return document_from(header["stored"], data, header["id"], "")
    return parse(data, header["id"])


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes from and to the parent, moved to other descriptors than the standard ones."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _end_with_parent(requests: BinaryIO) -> None:
    """End this process at once when the other end of the pipe is closed, even while a parser works."""
    if not hasattr(select, "poll"):
        return
    hung_up = select.poll()
    hung_up.register(requests, 0)  # which tells of the end alone

    def wait() -> None:
        hung_up.poll()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()
