"""Parsers of other packages: known by suffix in the parent, loaded in the child that parses.

What such a parser makes of a file is checked like the work of any other, see `wire`; the document carries the
package and its version as the metadata "parser", by which it is read again when either changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from spanwise.errors import DocumentRejected, PluginFailed
from spanwise.types import Document

from ...index.snapshot import Snapshot
from ..plugins import PARSERS, Plugin, plugins

PARSER = "parser"  # in the metadata of documents

Parse = Callable[[bytes, str], Document]


def parser_plugins() -> tuple[Plugin, ...]:
    """The parsers of installed packages; one for a suffix that is read here already is none."""
    return tuple(one for one in plugins(PARSERS) if one.name not in ("", *_taken()))


def names_of(parsers: Sequence[Plugin]) -> dict[str, str]:
    """The package and version that reads each suffix."""
    return {one.name: f"{one.origin} {one.problem}".strip() for one in parsers}


def otherwise_parsed(snapshot: Snapshot, parsers: Sequence[Plugin]) -> set[str]:
    """The documents that these parsers, or the readers of this package, would read where others did."""
    now = {one.name: one.origin for one in parsers}
    facts = snapshot.facts()
    return {
        document_id
        for document_id, metadata in zip(facts.ids, facts.metadata, strict=True)
        if metadata.get(PARSER) != now.get(PurePosixPath(document_id).suffix.lower())
    }


@dataclass(frozen=True, slots=True)
class PluggedParser:
    """The parser of a plug-in, loaded at its first file; what goes wrong in it rejects that file by name."""

    plugins: tuple[Plugin, ...]

    def __call__(self, data: bytes, document_id: str) -> Document:
        """The document; `DocumentRejected` says why there is none, and whose parser it was."""
        plugin = self.plugins[0]
        try:
            parse: Parse = plugin.load()
        except PluginFailed as error:
            raise DocumentRejected(str(error)) from error
        try:
            document = parse(data, document_id)
        except (DocumentRejected, MemoryError):
            raise
        except Exception as error:
            raise DocumentRejected(f"{plugin.label} failed: {type(error).__name__}: {error}") from error
        if not isinstance(document, Document):
            raise DocumentRejected(f"{plugin.label} gave {document!r:.60} where a Document was expected")
        return replace(document, metadata={**document.metadata, PARSER: plugin.origin})


class PluggedParsers(Mapping[str, Parse]):
    """The parsers by suffix."""

    def __init__(self, found: Sequence[Mapping[str, Any]]) -> None:
        self._parsers: dict[str, PluggedParser] = {}
        for plugin in (Plugin(**fields) for fields in found):
            others = self._parsers.get(plugin.name, PluggedParser(())).plugins
            self._parsers[plugin.name] = PluggedParser((*others, plugin))

    def __getitem__(self, suffix: str) -> Parse:
        """The parser for a suffix such as ".log"."""
        return self._parsers[suffix]

    def __iter__(self) -> Iterator[str]:
        """The suffixes."""
        return iter(self._parsers)

    def __len__(self) -> int:
        """How many suffixes there are."""
        return len(self._parsers)


def _taken() -> set[str]:
    from ...corpora.reading import known_suffixes

    return known_suffixes()
