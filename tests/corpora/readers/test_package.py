"""Zipped formats are opened one way: nothing explodes, nothing is fetched, no entity is expanded."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from made_office import OFFICE_MAKERS, archive, rezipped

from spanwise.corpora.readers.package import Package, parse_xml
from spanwise.corpora.reading import parse
from spanwise.errors import DocumentRejected

MAIN = {
    "a.epub": "OEBPS/book.opf",
    "a.pptx": "ppt/slides/slide1.xml",
    "a.xlsx": "xl/worksheets/sheet1.xml",
    "a.odt": "content.xml",
    "a.ods": "content.xml",
    "a.odp": "content.xml",
}
LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha">{}]><d>&z;</d>'.format(
    "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(25))
)
QUADRATIC = f'<!DOCTYPE d [<!ENTITY a "{"a" * 50_000}">]><d>{"&a;" * 50_000}</d>'
PARAMETER = '<!DOCTYPE d [<!ENTITY % a SYSTEM "http://example.org/a.dtd"> %a;]><d/>'
EXTERNAL = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/hostname">]><d>&a;</d>'
IN_UTF_16 = EXTERNAL.encode("utf-16")
ATTACKS = [LAUGHS, QUADRATIC, PARAMETER, EXTERNAL, IN_UTF_16, EXTERNAL.encode("utf-16-be")]
NAMES = ["laughs", "quadratic", "parameter", "external", "utf-16", "utf-16-be"]


@pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)
@pytest.mark.parametrize("name", MAIN)
def test_entities_are_refused_by_every_zipped_format(name: str, attack: str | bytes) -> None:
    file = rezipped(OFFICE_MAKERS[name]("words"), {MAIN[name]: attack})
    with pytest.raises(DocumentRejected, match="declares XML entities"):
        parse(file, name)


@pytest.mark.parametrize("name", MAIN)
def test_a_zip_bomb_is_refused_by_every_zipped_format(name: str) -> None:
    bomb = rezipped(OFFICE_MAKERS[name]("words"), {"zeros.bin": bytes(60_000_000)})
    with pytest.raises(DocumentRejected, match="zip bomb"):
        parse(bomb, name)


@pytest.mark.parametrize("name", MAIN)
def test_deep_nesting_is_refused_by_every_zipped_format(name: str) -> None:
    deep = rezipped(OFFICE_MAKERS[name]("words"), {MAIN[name]: "<d>" * 5000 + "</d>" * 5000})
    with pytest.raises(DocumentRejected, match=r"damaged .*depth"):
        parse(deep, name)


@pytest.mark.parametrize("name", MAIN)
def test_a_part_that_is_no_xml_is_refused_by_name(name: str) -> None:
    with pytest.raises(DocumentRejected, match=f"damaged {MAIN[name]}"):
        parse(rezipped(OFFICE_MAKERS[name]("words"), {MAIN[name]: "words"}), name)


def test_a_doctype_without_entities_is_fetched_from_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.dtd").write_text('<!ENTITY secret "told">', encoding="utf-8")
    root = parse_xml(f'<!DOCTYPE d SYSTEM "{tmp_path}/a.dtd"><d>&secret;</d>'.encode(), "a")
    assert "told" not in "".join(root.itertext())


def test_a_part_that_is_missing_is_named() -> None:
    with pytest.raises(DocumentRejected, match=r"the archive holds no b\.xml"):
        Package(archive({"a.xml": "<a/>"})).xml("b.xml")


def test_references_do_not_leave_the_package() -> None:
    package = Package(archive({"a.xml": "<a/>"}))
    assert package.resolve("xl/workbook.xml", "worksheets/sheet1.xml") == "xl/worksheets/sheet1.xml"
    assert package.resolve("xl/workbook.xml", "/ppt/a.xml") == "ppt/a.xml"
    assert package.resolve("a.xml", "../../../etc/passwd") == "etc/passwd"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(method: int) -> None:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        made.writestr("a.xml", "<a/>")
    with pytest.raises(DocumentRejected, match="another compression than deflate"):
        Package(file.getvalue())
