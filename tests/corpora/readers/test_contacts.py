"""Contacts and events become records: a line for each property, with dates in words."""

import pytest
from helpers.document_checks import documents_of

from spanwise.corpora.readers import contacts
from spanwise.corpora.tables import find_tables
from spanwise.errors import DocumentRejected

read = documents_of(contacts.read)
CARD = """BEGIN:VCARD\r
VERSION:3.0\r
FN:Dr. Ines Rohde\r
TEL;TYPE=WORK,VOICE:+44 20 5550 1212\r
EMAIL;TYPE=HOME:ines@rohde.exa\r
 mple\r
ORG:Weir Trust;Repairs\r
BDAY:19790412\r
NOTE:Rings back\\, never on Mondays\\nSpeaks Frisian\r
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD\r
END:VCARD\r
"""
OLD_CARD = """BEGIN:VCARD
VERSION:2.1
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg Falk
TEL;CELL:0171 5550
ADR;HOME:;;Dyke Lane 3;Husum;;25813;Germany
END:VCARD
"""
EVENTS = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
SUMMARY:Oiling of the sluice
DTSTART;TZID=Europe/Oslo:20240611T183000
DTEND;TZID=Europe/Oslo:20240611T200000
LOCATION:Weir\\, north side
ORGANIZER;CN=Berit Lunde:mailto:berit@weir.example
RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=2TU;UNTIL=20241231T000000Z
END:VEVENT
BEGIN:VEVENT
SUMMARY:Open days
DTSTART;VALUE=DATE:20240705
DTEND;VALUE=DATE:20240708
STATUS:CANCELLED
END:VEVENT
END:VCALENDAR
"""


def lines_of(source: str) -> list[str]:
    return read(source.encode(), "a.vcf").text.splitlines()


def test_a_contact_has_its_properties_unfolded_and_unescaped() -> None:
    assert lines_of(CARD) == [
        "Name: Dr. Ines Rohde",
        "Organisation: Weir Trust, Repairs",
        "Telephone (work): +44 20 5550 1212",
        "E-mail (home): ines@rohde.example",
        "Born: Thursday 12 April 1979 (19790412)",
        "Note: Rings back, never on Mondays Speaks Frisian",
    ]


def test_an_old_contact_is_decoded() -> None:
    assert lines_of(OLD_CARD) == [
        "Name: Jörg Falk",
        "Telephone (cell): 0171 5550",
        "Address (home): Dyke Lane 3, 25813, Husum, Germany",
    ]


def test_an_event_says_when_and_where_in_words() -> None:
    assert lines_of(EVENTS) == [
        "Event: Oiling of the sluice",
        "When: Tuesday 11 June 2024, 18:30 to 20:00 (Europe/Oslo)",
        "Repeats: monthly every 2 on Tuesday until Tuesday 31 December 2024",
        "Where: Weir, north side",
        "Organiser: Berit Lunde (berit@weir.example)",
        "",
        "Event: Open days",
        "When: Friday 5 July 2024 to Sunday 7 July 2024",
        "Status: cancelled",
    ]


def test_entries_are_the_rows_of_a_table() -> None:
    [table] = find_tables(read((CARD + OLD_CARD).encode(), "a.vcf"))
    assert table.columns[0] == "Name"
    assert len(table.rows) == 2


def test_a_broken_entry_leaves_the_others() -> None:
    broken = CARD.replace("BDAY:19790412", "BDAY:19790412\r\nBEGIN:X")
    document = read((broken + OLD_CARD).encode(), "a.vcf")
    assert document.text.startswith("Name: Jörg Falk")
    assert document.metadata["remark"] == "1 of 2 entries cannot be read and are left out"


@pytest.mark.parametrize(
    "source",
    ["", "BEGIN:VCALENDAR\n" * 9_000, "BEGIN:VCARD\nFN;" + "A;" * 90_000 + ":x", "\0\1\2", CARD[:99]],
)
def test_a_file_without_an_entry_is_rejected_at_once(source) -> None:
    with pytest.raises(DocumentRejected):
        read(source.encode(), "a.vcf")
