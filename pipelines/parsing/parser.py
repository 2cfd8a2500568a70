"""Parses files in a child process, and sees to it that one bad file costs itself alone.

The child is started when the first file comes, and replaced after many files so that what parsers leave
behind goes with it. A file on which a used child dies is tried again in a fresh one, not to pay for others.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.types import Document

from ...corpora.reading import Skipped
from .limits import Limits
from .process import ChildDied, ChildProcess
from .wire import Parsed, WrongAnswer, document_from, document_header, parsed_from

FILES_PER_CHILD = 1_000
BYTES_PER_CHILD = 256 * 2**20
LONGEST_REASON = 500  # characters


class Stopped(Exception):
    """The parser was stopped while it was at a file."""


class Parser:
    """One child at most. `parse` and `split` are for one thread at a time, `stop` for any."""

    def __init__(
        self,
        analyzer: Mapping[str, str],
        limits: Limits | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._limits = limits or Limits()
        self._child: ChildProcess | None = None
        self._n_files = self._n_bytes = 0  # that the child was asked for
        self._changing = threading.Lock()
        self._stopped = False

    def parse(self, data: bytes, document_id: str, sha256: str) -> Parsed | Skipped:
        """The document in the bytes of a file; `DocumentRejected` says why there is none."""
        return self._ask({"id": document_id}, data, document_id, sha256)

    def split(self, document: Document) -> Parsed | Skipped:
        """The passages and terms of a document that was parsed before."""
        header = {"id": document.id, "stored": document_header(document)}
        return self._ask(header, document.text.encode("utf-8"), document.id, document.sha256)

    def stop(self) -> None:
        """End the child, for good; whoever waits for an answer gets `Stopped`."""
        with self._changing:
            self._stopped = True
            if self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """End the child and release it; nobody may be waiting for an answer."""
        self.stop()
        self._replace()

    def _ask(
        self, header: Mapping[str, object], data: bytes, document_id: str, sha256: str
    ) -> Parsed | Skipped:
        if self._n_files >= FILES_PER_CHILD or self._n_bytes + len(data) > BYTES_PER_CHILD:
            self._replace()
        was_used = self._n_files > 0
        try:
            return self._ask_once(header, data, document_id, sha256)
        except ChildDied as death:
            self._replace()
            if death.late or not was_used:
                raise DocumentRejected(str(death)) from None
        try:
            return self._ask_once(header, data, document_id, sha256)
        except ChildDied as death:
            self._replace()
            raise DocumentRejected(str(death)) from None

    def _ask_once(
        self, header: Mapping[str, object], data: bytes, document_id: str, sha256: str
    ) -> Parsed | Skipped:
        child = self._running_child()
        self._n_files += 1
        self._n_bytes += len(data)
        try:
            answer, blocks = child.ask(header, data)
            return self._understood(answer, blocks, document_id, sha256)
        except ChildDied:
            if self._stopped:
                raise Stopped from None
            raise

    def _understood(
        self, answer: dict[str, Any], blocks: list[bytes], document_id: str, sha256: str
    ) -> Parsed | Skipped:
        if "rejected" in answer:
            raise DocumentRejected(_reason(answer["rejected"]))
        if "skipped" in answer:
            return Skipped(document_id, _reason(answer["skipped"]))
        if "out_of_memory" in answer:
            raise ChildDied(self._limits.over_memory())
        text, spans, terms = blocks
        try:
            return parsed_from(document_from(answer, text, document_id, sha256), spans, terms)
        except WrongAnswer as error:
            raise ChildDied(f"its parser gave an answer that makes no sense: {error}") from error

    def _running_child(self) -> ChildProcess:
        if self._child is None:
            with self._changing:
                if self._stopped:
                    raise Stopped
                self._child = ChildProcess.start(self._limits, self._analyzer)
            try:
                self._child.wait_until_ready()
            except ChildDied as death:
                if self._stopped:
                    raise Stopped from None
                # No fault of the file: rejecting it, and all others, would empty the index.
                raise SpanwiseError(f"the process that reads files does not start: {death}") from None
        return self._child

    def _replace(self) -> None:
        with self._changing:
            child, self._child = self._child, None
        self._n_files = self._n_bytes = 0
        if child is not None:
            child.close()


def _reason(words: object) -> str:
    return " ".join(str(words).split())[:LONGEST_REASON]
