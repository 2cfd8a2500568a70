"""The NPL collection (Vaswani): 11,429 short abstracts on electronics, 93 queries.

Files: `doc-text`, `query-text`, `rlv-ass`. Each is a list of blocks: a number in a line of its own, lines of
text (or of the numbers of relevant documents), and a line with a slash.

Source: the files themselves, as the University of Glasgow distributes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .collection import Collection, CollectionDocument, Qrels, query_at, unique
from .packed import malformed, whole_text

FORM = "NPL (doc-text, query-text, rlv-ass)"
DOCUMENTS, QUERIES, QRELS = "doc-text", "query-text", "rlv-ass"


def is_npl(folder: Path) -> bool:
    """True when the folder has the three files."""
    return all((folder / name).is_file() for name in (DOCUMENTS, QUERIES, QRELS))


def read_npl(folder: Path) -> Collection:
    """The collection; its documents have no titles of their own."""
    texts, asked = _blocks(folder / DOCUMENTS), _blocks(folder / QUERIES)
    documents = ((folder / DOCUMENTS, line, CollectionDocument(name, "", text)) for line, name, text in texts)
    queries = (query_at(folder / QUERIES, line, name, text) for line, name, text in asked)
    return Collection.of(folder, unique(documents), unique(queries), _qrels(folder / QRELS))


def _qrels(path: Path) -> Qrels:
    qrels: dict[str, dict[str, int]] = {}
    for line, name, text in _blocks(path):
        documents = text.split()
        if not all(document.isdecimal() for document in documents):
            raise malformed(path, line, f"expected numbers of documents, found {text!r:.60}")
        if name in qrels:
            raise malformed(path, line, f"query {name} is judged twice")
        qrels[name] = {str(int(document)): 1 for document in documents}
    return qrels


def _blocks(path: Path) -> Iterator[tuple[int, str, str]]:
    """Each block as (its line, number, text)."""
    began, lines = 0, list[str]()
    for at, line in enumerate(whole_text(path).split("\n"), start=1):
        if line.strip() != "/":
            if line.strip() and not lines:
                began = at
            if line.strip():
                lines.append(line)
            continue
        if not lines or not lines[0].strip().isdecimal():
            raise malformed(path, began or at, f"expected a number, found {(lines or ['/'])[0]!r:.60}")
        yield began, str(int(lines[0])), "\n".join(lines[1:])
        lines = []
    if lines:
        raise malformed(path, began, "the last block has no line with '/' at its end")
