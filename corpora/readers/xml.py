"""Reads XML of any vocabulary: titles as headings, paragraphs, and lines "name: value" for data.

An element that directly contains words is a paragraph with all that is in it; other elements are containers.
HTML in a value, as in feeds, is read as its text. A file that is not well-formed is read as plain text, with
a remark. A file beyond the limits of the parser (256 levels, multiplying entities) is rejected.
"""

import re
from html.entities import html5
from itertools import groupby

from spanwise.errors import DocumentRejected

from ..archive import Element, local_name, safe_parser
from ..decoding import declared_encoding, decode
from .builder import Cell, TextBuilder, formula, one_line, settle, source_builder
from .html import SCRIPTS, note_mark, parse_html, write_page
from .markup import title_heading

MEDIA_TYPE = "application/xml"
ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,31};)")
LONG_TAG = re.compile(r"<[^<>!?/][^<>]{50000,}+")
MAX_ATTRIBUTES = 5000  # of an element; the parser takes quadratic time
TITLES = frozenset("title head heading article-title h1 h2 h3 h4 h5 h6".split())
PROSE = frozenset(
    "p para simpara ab lg l v quote epigraph stanza caption blockquote note li item listitem member "
    "list-item term dt dd".split()
)
ITEMS = frozenset("li item listitem member list-item".split())
LINES = ITEMS | frozenset("l v term dt dd tr row td th entry cell".split())
ROWS = frozenset("tr row".split())
STRUCK = frozenset("del strike strikethrough deleted".split())
NOTE_LINKS = frozenset("xref a ref link".split())  # in raised text
VERBATIM = frozenset("programlisting screen literallayout pre preformat eg verbatim".split())
DROPPED = frozenset("script style svg colspec indexterm binary".split())
MARKUP = re.compile(r"<(?:p|br|div|a|ul|ol|li|img|h[1-6]|table|strong|em|b|i|blockquote|pre)[\s/>]", re.I)


def read(data: bytes) -> TextBuilder:
    """The document of an XML file, titled by a heading."""
    from lxml.etree import XMLSyntaxError

    source, encoding = decode(data, declared_encoding(data))
    try:
        root = _parse_tree(source)
    except XMLSyntaxError as error:
        remark = f"not well-formed XML ({error.msg}); read as plain text"
        return source_builder("text/plain", (source, encoding), remark=remark)
    n_old = _drop_old_revisions(root)
    builder = TextBuilder()
    _write(builder, root, 1)
    title = title_heading(builder.text, builder.headings)
    remark = f"older revisions of pages: {n_old:,}" if n_old else ""
    return builder.described(MEDIA_TYPE, title, encoding=encoding, remark=remark)


def _drop_old_revisions(root: Element) -> int:
    """The number of revisions in the export of a wiki that are not the newest of their page; drops them."""
    old = []
    for page in root.iter("{*}page") if local_name(root) == "mediawiki" else ():
        revisions = page.findall("{*}revision")
        old += sorted(revisions, key=lambda revision: revision.findtext("{*}timestamp", ""))[:-1]
    for revision in old:
        revision.getparent().remove(revision)
    return len(old)


def _parse_tree(source: str) -> Element:
    """The root of an XML text; undeclared entities of HTML are resolved."""
    from lxml.etree import ErrorTypes, XMLSyntaxError, fromstring

    if any(tag[0].count("=") > MAX_ATTRIBUTES for tag in LONG_TAG.finditer(source)):
        raise DocumentRejected(f"XML with more than {MAX_ATTRIBUTES:,} attributes in one element")
    try:
        return fromstring(source.encode(), safe_parser("utf-8"))
    except XMLSyntaxError as error:
        if error.code == ErrorTypes.ERR_RESOURCE_LIMIT:
            raise DocumentRejected(f"XML beyond the limits of its parser: {error.msg}") from error
    resolved = ENTITY.sub(lambda entity: html5.get(entity[1], entity[0]), source)
    return fromstring(resolved.encode(), safe_parser("utf-8"))


def _write(builder: TextBuilder, element: Element, level: int) -> None:
    """Write an element and all that is in it; a title in it has the level `level`."""
    name = local_name(element)
    if name in DROPPED:
        return
    if name in VERBATIM:
        builder.write_paragraph("".join(_texts(element)).strip("\r\n"))
    elif name in TITLES:
        builder.write_heading(one_line(*_texts(element)), level)
    elif _has_words(element):
        text = "".join(_texts(element))
        is_html = MARKUP.search(text) is not None
        words = write_page(parse_html(text)).text if is_html else one_line(text)
        is_data = not len(element) and name not in PROSE and not is_html
        mark = "- " if name in ITEMS else f"{name}: " if is_data else ""
        builder.write_paragraph(mark + words, not (is_data or name in LINES))
    else:
        builder.end_line(blank=len(element) > 0)
        attributes = [f"{key}: {one_line(value)}" for key, value in element.items() if key[0] != "{"]
        fronts = [child for child in element if local_name(child).endswith("info")]  # DocBook's front matter
        is_titled = any(local_name(child) in TITLES for parent in (element, *fronts) for child in parent)
        if attributes and not is_titled:
            builder.write_paragraph(f"{name} ({', '.join(attributes)}){':' * (len(element) > 0)}", False)
        for is_row, children in groupby(element, _is_row):
            if is_row:
                builder.write_table(map(_cells, children))
                continue
            for child in children:
                in_section = is_titled and local_name(child) not in TITLES and child not in fronts
                _write(builder, child, level + in_section)
        builder.end_line(blank=len(element) > 0)


def _is_row(element: Element) -> bool:
    return local_name(element) in ROWS and len(element) > 0


def _cells(row: Element) -> list[Cell]:
    return [Cell.spanning(one_line(*_texts(cell)), cell.get("rowspan"), cell.get("colspan")) for cell in row]


def _has_words(element: Element) -> bool:
    """True when the element directly contains words, or entities."""
    texts = [element.text, *(child.tail for child in element)]
    has_entities = any(not local_name(child) for child in element)
    return has_entities or any(text and not text.isspace() for text in texts)


def _texts(element: Element) -> list[str]:
    """The strings in an element at any depth, with the entities of HTML resolved, without struck text."""
    pieces = [element.text or ""]
    for child in element:
        name = local_name(child)
        kinds = {name, *map(child.get, ("rend", "role", "revisionflag"))}
        if not name:  # an entity that the document declares, or one of HTML
            pieces.append(html5.get(f"{child.name};", child.text or ""))
        elif name == "math":
            pieces.append(settle(formula(child)))
        elif kinds & SCRIPTS.keys():
            is_note = any(local_name(link) in NOTE_LINKS for link in (element, *child))
            change = note_mark if is_note else SCRIPTS[min(kinds & SCRIPTS.keys())]
            pieces.append(change("".join(_texts(child))))
        elif name not in DROPPED and not kinds & STRUCK:
            space = " " * (name in PROSE | LINES | VERBATIM | TITLES)
            pieces += [space, *_texts(child), space]
        pieces.append(child.tail or "")
    return pieces
