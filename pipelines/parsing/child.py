"""The child: reads requests from its parent, parses one file for each, or draws a page of it, answers.

It talks over pipes of its own and ends when its parent does; see `pipelines.child_pipes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from ...corpora.passages import split
from ...corpora.reading import Skipped, parse
from ...index.analysis import Analyzer
from ...index.schema import indexed_text
from ..child_pipes import end_with_parent, own_pipes
from .drawn_page import page_answer
from .frames import BrokenFrame, receive, send
from .limits import Limits
from .plugged import PluggedParsers
from .wire import document_from, document_header, passage_blocks

Answer = tuple[Mapping[str, object], bytes, bytes, bytes]
NOTHING = (b"", b"", b"")  # the blocks of an answer without a document


def main(
    limits: Mapping[str, Any],
    analyzer: Mapping[str, str],
    parsers: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Answers requests until the parent closes the pipe."""
    requests, answers = own_pipes()
    held_to, terms_of = Limits(**limits), Analyzer.from_settings(analyzer)
    others = PluggedParsers(parsers)
    held_to.confine()
    end_with_parent(requests)
    send(answers, {"ready": True}, *NOTHING)
    while (request := receive(requests, 1)) is not None:
        header, (data,) = request
        held_to.for_file(len(data)).allow_next_file()
        answer = _answer(header, data, terms_of, others)
        del request, data
        try:
            send(answers, *answer)
        except (BrokenFrame, UnicodeEncodeError) as error:
            send(answers, {"rejected": f"what its parser made cannot be stored: {error}"}, *NOTHING)
        except MemoryError:
            send(answers, {"out_of_memory": True}, *NOTHING)


def _answer(
    header: Mapping[str, Any],
    data: bytes,
    analyzer: Analyzer,
    others: PluggedParsers,
) -> Answer:
    """The document with its passages and terms, or a page that was asked for, or why there is none."""
    try:
        if "page" in header:
            return page_answer(header, data)
        document = _document(header, data, others)
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


def _document(header: Mapping[str, Any], data: bytes, others: PluggedParsers) -> Document | Skipped:
    """The document in a file, or the one that was stored before, as the request says."""
    if "stored" in header:
        return document_from(header["stored"], data, header["id"], "")
    return parse(data, header["id"], others)
