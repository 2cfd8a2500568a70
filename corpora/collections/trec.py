"""TREC collections: documents and topics in SGML, judgements in a file of their own.

Documents: `<DOC> <DOCNO>name</DOCNO> … </DOC>`; what stands in `<TEXT>` is the text, or everything, where
there is none; `<TITLE>`, `<HEADLINE>` or `<HL>` is the title. Topics: `<top> <num> <title> <desc> <narr>
</top>`, whose fields need no end; the title is the query. The tags are those of TREC's own disks; nothing
else of SGML is known here.

A folder holds `*.trec` files (also `.sgml`, gzipped or not), those of the topics beginning with "query" or
"topics", and judgements in `qrels` or `qrels.txt`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from .collection import Collection, CollectionDocument, QrelsReader, Query, query_at, unique
from .packed import malformed, place, plain_or_gzipped, whole_text

FORM = "TREC (*.trec documents, query*.trec or topics*.trec, qrels)"
ENDINGS = (".trec", ".trec.gz", ".sgml", ".sgml.gz")
TOPICS = ("query", "topics")
TITLES = ("title", "headline", "hl")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_FIELD = re.compile(r"<([a-z]{2,8})>([^<]*)", re.IGNORECASE)
_LABEL = re.compile(r"(?:number|topic)\s*:", re.IGNORECASE)


def is_trec(folder: Path) -> bool:
    """True when the folder has documents, topics and judgements."""
    documents, topics = _files(folder)
    return bool(documents and topics and _qrels_of(folder))


def read_trec(folder: Path, read_qrels: QrelsReader) -> Collection:
    """The collection of all documents and topics of the folder."""
    documents, topics = _files(folder)
    return Collection.of(
        folder,
        unique(found for path in documents for found in trec_documents(path)),
        unique(found for path in topics for found in trec_topics(path)),
        read_qrels(_qrels_of(folder) or folder / "qrels"),
    )


def trec_documents(path: Path) -> Iterator[tuple[str, CollectionDocument]]:
    """Each document with its place."""
    for where, content in _elements(path, "DOC"):
        names = _contents(content, "docno")
        if len(names) != 1 or not names[0].strip():
            raise malformed(where, f"expected one <DOCNO> in the <DOC>, found {len(names)}")
        title = next((found for tag in TITLES for found in _contents(content, tag)), "")
        body = "\n".join(_contents(content, "text")) or _without(content, ("docno", *TITLES))
        yield where, CollectionDocument(names[0].strip(), _plain(title), _plain(body))


def trec_topics(path: Path) -> Iterator[tuple[str, Query]]:
    """Each topic, its title the query, with its place."""
    for where, content in _elements(path, "top"):
        fields = {name.lower(): text for name, text in reversed(_FIELD.findall(content))}  # the first counts
        name = _LABEL.sub("", fields.get("num", "")).strip()
        if not name:
            raise malformed(where, "expected a <num> in the <top>")
        title = fields.get("title", "")
        yield query_at(where, name, _plain(_LABEL.sub("", title, count=1)))


def _files(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of documents and those of topics."""
    found = sorted(path for path in folder.iterdir() if path.name.lower().endswith(ENDINGS))
    topics = [path for path in found if path.name.lower().startswith(TOPICS)]
    return [path for path in found if path not in topics], topics


def _qrels_of(folder: Path) -> Path | None:
    return plain_or_gzipped(folder / "qrels") or plain_or_gzipped(folder / "qrels.txt")


def _elements(path: Path, tag: str) -> Iterator[tuple[str, str]]:
    """What each `<tag>…</tag>` holds, with its place; `DataMalformed` for tags out of order, text around."""
    text = whole_text(path)
    at, line = 0, 1
    for opening, closing in zip_longest(*[iter(_marks(text, tag))] * 2):
        start = opening.start()
        between = text[at:start]
        line += text.count("\n", at, start)
        if opening[1] or between.strip():
            found = between.strip() or opening[0]
            raise malformed(place(path, line), f"expected <{tag}>, found {found!r:.60}")
        if closing is None or not closing[1]:
            raise malformed(place(path, line), f"this <{tag}> has no </{tag}>")
        yield place(path, line), text[opening.end() : closing.start()]
        line += text.count("\n", start, closing.end())
        at = closing.end()
    if text[at:].strip():
        raise malformed(place(path, line), f"expected <{tag}>, found {text[at:].strip()!r:.60}")


def _pairs(content: str, tag: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    """The opening and closing tag of each element of this name; one without the other is passed over."""
    found, opening = [], None
    for mark in _marks(content, tag):
        if not mark[1]:
            opening = mark
        elif opening is not None:
            found.append((opening, mark))
            opening = None
    return found


def _contents(content: str, tag: str) -> list[str]:
    """What the elements of this name hold."""
    return [content[opening.end() : closing.start()] for opening, closing in _pairs(content, tag)]


def _without(content: str, tags: tuple[str, ...]) -> str:
    """The content without the elements of these names."""
    for tag in tags:
        kept, at = [], 0
        for opening, closing in _pairs(content, tag):
            kept.append(content[at : opening.start()])
            at = closing.end()
        content = "".join([*kept, content[at:]])
    return content


def _marks(text: str, tag: str) -> Iterator[re.Match[str]]:
    """The opening and closing tags of this name; group 1 is the slash of a closing one."""
    return _tags(tag).finditer(text)


def _tags(name: str) -> re.Pattern[str]:
    return re.compile(f"<(/?){name}>", re.IGNORECASE | re.ASCII)


def _plain(content: str) -> str:
    """The text without tags, entities as characters."""
    return html.unescape(_TAG.sub(" ", content)).strip()
