"""XML becomes paragraphs, headings and "name: value" lines; no other file is opened."""

import pytest
from helpers.document_checks import documents_of

from spanwise.corpora.readers import xml
from spanwise.errors import DocumentRejected
from spanwise.types import Document

read = documents_of(xml.read)


def made(source: str) -> Document:
    return read(source.encode(), "sub/notes.xml")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<r><a id="7" x:y="no" xmlns:x="u">1</a><b k="v"/><c/></r>', "a: 1\nb (k: v)"),
        ('<r><town name="Hale"><n>1</n></town></r>', "town (name: Hale):\nn: 1"),
        ("<article><para>One <em>two</em>,\n three.</para><para>B</para></article>", "One two, three.\n\nB"),
        ("<list><item>a</item><item>b</item></list>", "- a\n- b"),
        ("<table><row><entry>a</entry><entry/><entry>c</entry></row></table>", "a |  | c"),
        ("<sec><programlisting>\n x\n  y\n</programlisting><p>z</p></sec>", " x\n  y\n\nz"),
        ("<r><description>&lt;p>One&lt;/p>&lt;p>two</description></r>", "One\n\ntwo"),
        ("<p>one<note><p>inner</p></note>two</p>", "one inner two"),
        ('<t><tr><td rowspan="2">a</td><td>1</td></tr><tr><td>2</td></tr></t>', "a | 1\na | 2"),
        ("<p>10<sup>5</sup> of H<subscript>2</subscript>O</p>", "10⁵ of H₂O"),
        ("<p>9<sup><xref>3</xref></sup>, 7<xref><sup>4</sup></xref></p>", "9 [3], 7 [4]"),
        ("<p>x <math><msup><mn>10</mn><mn>5</mn></msup></math></p>", "x 10⁵"),
        ('<p>a <del>b</del> <phrase revisionflag="deleted">c</phrase> d</p>', "a d"),
        ("<a>caf&eacute;</a>", "a: café"),
        ("<a><![CDATA[x < y]]></a>", "a: x < y"),
    ],
)
def test_elements_become_paragraphs_and_lines(source: str, expected: str) -> None:
    assert made(source).text == expected


def test_titles_are_headings_at_the_depth_of_their_sections() -> None:
    inner = "<chapter><title>Owners</title><p>x</p><section><title>Old</title><p>y</p></section></chapter>"
    document = made(f"<book><info><title>The Mill</title></info>{inner}</book>")
    assert [(h.level, h.text) for h in document.headings] == [(1, "The Mill"), (2, "Owners"), (3, "Old")]
    assert document.title == "The Mill"


def test_the_declared_encoding_is_used() -> None:
    source = "<?xml version='1.0' encoding='iso-8859-2'?><a>Łódź</a>".encode("iso-8859-2")
    assert read(source, "a.xml").text == "a: Łódź"


@pytest.mark.parametrize("source", ["<a><b></a>", "<a>&nothing;</a>", "<a>\x01</a>", "words", "<a b=c/>"])
def test_a_file_that_is_not_well_formed_is_read_as_text(source: str) -> None:
    document = made(source)
    assert document.text == source
    assert "not well-formed XML" in document.metadata["remark"]


LAUGHS = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(12))


@pytest.mark.parametrize(
    "source",
    [
        "<a>" * 5000 + "</a>" * 5000,
        f'<!DOCTYPE a [<!ENTITY a "{"ha" * 50}">{LAUGHS}]><a>&m;</a>',
        f'<!DOCTYPE a [<!ENTITY q "{"x" * 100_000}">]><a b="{"&q;" * 9000}"/>',
        "<a " + " ".join(f'a{number}="{number}"' for number in range(9000)) + "/>",
    ],
)
def test_files_beyond_the_limits_are_refused(source: str) -> None:
    with pytest.raises(DocumentRejected, match=r"limits of its parser|attributes in one element"):
        made(source)


def test_no_entity_is_fetched() -> None:
    entities = '<!ENTITY f SYSTEM "file:///etc/hostname"><!ENTITY % p SYSTEM "http://localhost/x.dtd">'
    assert made(f'<!DOCTYPE a SYSTEM "http://localhost/a.dtd" [{entities}]><a>x &f; y</a>').text == "x &f; y"


def test_only_the_newest_revision_of_a_wiki_page_is_read():
    def revision(day, words):
        return f"<revision><timestamp>2024-05-0{day}T09:00:00Z</timestamp><text>{words}</text></revision>"

    pages = f"<page><title>Mill</title>{revision(2, 'Opens at ten.')}{revision(1, 'Opens at six.')}</page>"
    pages += f"<page><title>Weir</title>{revision(1, 'Six gates.')}</page>"
    document = read(f'<mediawiki xmlns="http://mediawiki.org/x/">{pages}</mediawiki>'.encode(), "a.xml")
    assert [words in document.text for words in ("at ten", "at six", "Six gates")] == [True, False, True]
    assert document.metadata["remark"] == "older revisions of pages: 1"
