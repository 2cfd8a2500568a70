"""XML of any vocabulary: the words of its elements, in lines as `xml_writer` lays them out.

lxml parses without DTD, network, expanded entities or huge trees. What is not well-formed is read as plain
text, with a remark; what exceeds the parser's limits (256 levels, entities that multiply) is rejected.
"""

from __future__ import annotations

import re
from hashlib import sha256
from html.entities import html5
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from ..decoding import decode
from .source import unparsed
from .titles import choose_title
from .xml_writer import write_tree

if TYPE_CHECKING:
    from lxml.etree import _Element

MEDIA_TYPE = "application/xml"
DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([A-Za-z0-9_.:-]{1,40})""")
DECLARED_WITHIN = 300  # bytes
ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,31};)")

LONG_TAG = re.compile(r"<[^<>!?/][^<>]{50000,}+")
MAX_ATTRIBUTES = 5000  # of one element: the parser's time grows with their square


def read(data: bytes, document_id: str) -> Document:
    """The document of an XML file; title from its one heading of the highest level, else the file name."""
    from lxml.etree import XMLSyntaxError

    found = DECLARED.search(data[:DECLARED_WITHIN])
    declared = found[1].decode("ascii") if found else None
    source, encoding = decode(data, declared)
    try:
        root = parse(source)
    except XMLSyntaxError as error:
        return unparsed(data, document_id, declared, f"it is no well-formed XML ({error.msg})")
    builder = write_tree(root)
    highest = min((heading.level for heading in builder.headings), default=0)
    tops = [heading.text for heading in builder.headings if heading.level == highest]
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(*tops[:1] if len(tops) == 1 else (), document_id=document_id),
        text=builder.text,
        headings=tuple(builder.headings),
        labels=tuple(builder.labels),
        metadata={"encoding": encoding},
    )


def parse(source: str) -> _Element:
    """The root of an XML text; names of HTML's entities that it uses undeclared count as declared."""
    from lxml.etree import ErrorTypes, XMLSyntaxError

    if any(tag[0].count("=") > MAX_ATTRIBUTES for tag in LONG_TAG.finditer(source)):
        raise DocumentRejected(f"XML with more than {MAX_ATTRIBUTES:,} attributes in one element")
    try:
        return _parse(source)
    except XMLSyntaxError as error:
        if error.code == ErrorTypes.ERR_RESOURCE_LIMIT:
            raise DocumentRejected(f"XML beyond the limits of its parser: {error.msg}") from error
        if error.code != ErrorTypes.ERR_UNDECLARED_ENTITY:
            raise
    return _parse(ENTITY.sub(lambda entity: html5.get(entity[1], entity[0]), source))


def _parse(source: str) -> _Element:
    from lxml.etree import XMLParser, fromstring

    parser = XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    return fromstring(source.encode(), parser)
