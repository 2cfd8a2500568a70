"""Zip archives are opened within limits: no zip bomb, no fetched file, no expanded entity."""

import zipfile
from io import BytesIO

import pytest
from helpers.office_files import OFFICE_MAKERS, archive, rezipped

from spanwise.corpora.archive import Archive
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
EXTERNAL = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/hostname">]><d>&a;</d>'


@pytest.mark.parametrize(
    "attack", [LAUGHS, EXTERNAL.encode("utf-16"), EXTERNAL.encode("utf-16-be")], ids=["laughs", "16", "16-be"]
)
@pytest.mark.parametrize("name", MAIN)
def test_every_zip_format_refuses_entities(name: str, attack: str | bytes) -> None:
    file = rezipped(OFFICE_MAKERS[name]("words"), {MAIN[name]: attack})
    with pytest.raises(DocumentRejected, match="declares XML entities"):
        parse(file, name)


@pytest.mark.parametrize("name", MAIN)
def test_every_zip_format_refuses_a_zip_bomb(name: str) -> None:
    bomb = rezipped(OFFICE_MAKERS[name]("words"), {"zeros.bin": bytes(60_000_000)})
    with pytest.raises(DocumentRejected, match="zip bomb"):
        parse(bomb, name)


def test_other_compressions_are_refused() -> None:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as target:
        target.writestr("a.xml", "<a/>")
    with pytest.raises(DocumentRejected, match="another compression than deflate"):
        Archive(file.getvalue())


def test_too_many_members_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.archive.MAX_MEMBERS", 1)
    with pytest.raises(DocumentRejected, match="members; the limit is 1"):
        Archive(archive({"a": "1", "b": "2"}))
