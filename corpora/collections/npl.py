"""The NPL collection (Vaswani): 11,429 short abstracts on electronics, 93 queries.

Files: `doc-text`, `query-text`, `rlv-ass`. Each is a list of blocks: a number in a line of its own, lines of
text (or of the numbers of relevant documents), and a line with a slash.

Source: the files themselves, as the University of Glasgow distributes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .collection import Collection, CollectionDocument, Qrels, number_id, query_at, unique
from .packed import malformed, place, whole_text

FORM = "NPL (doc-text, query-text, rlv-ass)"
DOCUMENTS, QUERIES, QRELS = "doc-text", "query-text", "rlv-ass"


def is_npl(folder: Path) -> bool:
    """True when the folder has the three files."""
    return all((folder / name).is_file() for name in (DOCUMENTS, QUERIES, QRELS))


def read_npl(folder: Path) -> Collection:
    """The collection; its documents have no titles of their own."""
    texts, asked = _blocks(folder / DOCUMENTS), _blocks(folder / QUERIES)
    documents = ((where, CollectionDocument(name, "", text)) for where, name, text in texts)
    queries = (query_at(where, name, text) for where, name, text in asked)
    return Collection.of(folder, unique(documents), unique(queries), _qrels(folder / QRELS))


def _qrels(path: Path) -> Qrels:
    qrels: dict[str, dict[str, int]] = {}
    for where, name, text in _blocks(path):
        if name in qrels:
            raise malformed(where, f"query {name} is judged twice")
        qrels[name] = {}
        for word in text.split():
            document = number_id(word)
            if document is None or document in qrels[name]:
                raise malformed(where, f"expected numbers of documents, each once, found {word!r:.60}")
            qrels[name][document] = 1
    return qrels


def _blocks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Each block as (place, number, text)."""
    began, lines = 0, list[str]()
    for at, line in enumerate(whole_text(path).split("\n"), start=1):
        if line.strip() == "/":
            yield _block(place(path, began or at), lines)
            began, lines = 0, []
        elif line.strip():
            began = began or at
            lines.append(line)
    if lines:
        raise malformed(place(path, began), "the last block has no line with '/' at its end")


def _block(where: str, lines: list[str]) -> tuple[str, str, str]:
    number = number_id(lines[0]) if lines else None
    if number is None:
        raise malformed(where, f"expected a number, found {(lines or ['/'])[0]!r:.60}")
    return where, number, "\n".join(lines[1:]).strip()
