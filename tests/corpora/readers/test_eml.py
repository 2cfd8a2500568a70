"""Mail messages become their subject, people, date, text and attachments."""

from email.message import EmailMessage

import pytest
from helpers.document_checks import documents_of
from helpers.files import as_docx

from spanwise.corpora import reading
from spanwise.corpora.readers import eml

read = documents_of(eml.read)
read_whole = reading.parse


def mail(body: str = "words", **headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in headers.items():
        message[name] = value
    message.set_content(body)
    return message


def text_of(data: bytes) -> str:
    return read(data, "a.eml").text


def test_headers_stand_above_the_text_and_the_subject_is_the_title() -> None:
    message = mail("Dear Bo,\n\nYes.\n", Subject="The mill", From="Ada <a@x.org>", To="Bo <b@x.org>")
    message.add_alternative("<p>rich</p>", subtype="html")
    document = read(message.as_bytes(), "a.eml")
    assert document.text == "The mill\n\nFrom: Ada <a@x.org>\nTo: Bo <b@x.org>\n\nDear Bo,\n\nYes."
    assert document.title == "The mill"
    assert [(heading.level, heading.text) for heading in document.headings] == [(1, "The mill")]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("=?utf-8?Q?M=C3=BChle?=", "Mühle"),
        ("=?iso-8859-1?B?TfxobGU=?= and =?utf-8?Q?=E2=82=AC?=", "Mühle and €"),
        ("=?iso-2022-jp?B?GyRCRWw1fhsoQg==?=", "東京"),
        ("=?no-such-charset?Q?plain?=", "plain"),
        ("=?utf-8?Q?cut", "=?utf-8?Q?cut"),
        ("M\udcc3\udcbchle", "Mühle"),
        ("folded\r\n\tline", "folded line"),
    ],
)
def test_headers_are_decoded_and_broken_ones_are_kept(raw: str, expected: str) -> None:
    data = b"Subject: " + raw.encode("utf-8", "surrogateescape") + b"\nTo: x\n\nwords"
    assert read(data, "a.eml").title == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Thu, 14 Mar 2019 09:30:00 +0100", "2019-03-14T09:30:00+01:00"),
        ("14 Mar 2019 09:30 -0000", "2019-03-14T09:30:00+00:00"),
        ("yesterday", None),
        ("1 Jan 99999999999999999999 00:00:00 +9999", None),
    ],
)
def test_a_valid_date_is_metadata(raw: str, expected: str | None) -> None:
    document = read(f"Date: {raw}\nSubject: The mill\n\nwords\n".encode(), "a.eml")
    assert document.metadata.get("date") == expected


def test_attachments_are_named_and_texts_are_read() -> None:
    message = mail("See below.")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="Bericht März.pdf")
    message.add_attachment("town,people\n", subtype="csv", filename="towns.csv")
    document = read(message.as_bytes(), "a.eml")
    parts = ["See below.", "Attachment: Bericht März.pdf", "Attachment: towns.csv", "town,people"]
    assert document.text == "\n\n".join(parts)
    labels = [label.text for label in document.labels]
    assert labels == ["attachment Bericht März.pdf", "attachment towns.csv"]


@pytest.mark.parametrize(
    ("charset", "data", "expected"),
    [
        ("iso-8859-1", b"M\xfchle", "Mühle"),
        ("iso-2022-jp", b"\x1b$BEl5~\x1b(B", "東京"),
        ("no-such", "Mühle".encode(), "Mühle"),
        ("us-ascii", b"M\xfchle und Getreide", "Mühle und Getreide"),
        ("iso-8859-1", b"It\x92s \x8025", "It’s €25"),
    ],
)
def test_declared_charsets_are_used_and_wrong_ones_replaced(charset: str, data: bytes, expected: str) -> None:
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\n".encode()
    assert text_of(head + data) == f"x\n\n{expected}"


def test_flowed_lines_are_joined() -> None:
    head = b"Content-Type: text/plain; format=flowed\n\n"
    assert text_of(head + b"one \ntwo\n> quoted \n> on\n-- \nAda") == "one two\n> quoted \n> on\n-- \nAda"


def test_flowed_lines_lose_a_space_that_is_no_part_of_the_text() -> None:
    head = b"Content-Type: text/plain; format=flowed; delsp=yes\n\n"
    assert text_of(head + b"on \ne  \ntwo") == "one two"


def test_a_form_of_the_text_with_attachments_is_read() -> None:
    page = mail("<p>The list is attached.</p>")
    page.replace_header("Content-Type", "text/html")
    page.add_attachment("town,people\n", subtype="csv", filename="towns.csv")
    message = mail("The list is attached.")
    message.make_alternative()
    message.attach(page)
    text = "The list is attached.\n\nAttachment: towns.csv\n\ntown,people"
    assert text_of(message.as_bytes()).endswith(text)


def test_a_truncated_message_is_read_with_a_remark() -> None:
    message = mail("plain words")
    message.add_attachment(b"x" * 3000, maintype="application", subtype="pdf", filename="a.pdf")
    document = read(message.as_bytes()[:-100], "a.eml")
    assert document.text.startswith("plain words")
    assert document.metadata["remark"] == "truncated: it ends inside a part"


@pytest.mark.parametrize(
    "stub", ["View this mail in a browser.", "Use a program that shows HTML.", "Booked."]
)
def test_a_stub_gives_way_to_the_page(stub: str) -> None:
    message = mail(stub)
    message.add_alternative("<p>The booking starts on 18 June 2024 at 07:45.</p>", subtype="html")
    assert text_of(message.as_bytes()) == "The booking starts on 18 June 2024 at 07:45."


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("> old\n\nnew\nmore", "new\nmore\n\n> old"),
        ("On Monday,\nBo wrote:\n> old\n>\n> older\nnew", "new\n\nOn Monday,\nBo wrote:\n> old\n>\n> older"),
        ("> one\nyes\n> two\nno", "> one\nyes\n> two\nno"),
        ("new\n\n> old", "new\n\n> old"),
        ("> old\n\n-- \nAda", "> old\n\n-- \nAda"),
    ],
)
def test_an_answer_stands_before_the_quotation_above_it(body: str, expected: str) -> None:
    assert text_of(f"Subject: x\n\n{body}\n".encode()) == f"x\n\n{expected}"


MAILBOX = b"".join(
    b"From ada@x.org Thu Mar 14 09:30:00 2019\nSubject: %s\n\nwords\n>From then on\n\n" % subject
    for subject in (b"One", b"=?utf-8?Q?M=C3=BChle?=", b"")
)


@pytest.mark.parametrize("data", [MAILBOX, MAILBOX.replace(b"\n", b"\r\n")])
def test_each_mail_of_a_mailbox_has_a_heading_and_a_label(data: bytes) -> None:
    document = read(data, "a.mbox")
    titles = ["One", "Mühle", "Without a subject"]
    assert document.text == "\n\n".join(f"{title}\n\nwords\nFrom then on" for title in titles)
    assert [heading.text for heading in document.headings] == titles
    assert [label.text for label in document.labels] == [f"mail {title}" for title in titles]
    assert document.title == "a"


def test_the_label_of_a_mail_has_its_day() -> None:
    data = MAILBOX.replace(b"Subject: One", b"Subject: One\nDate: Mon, 22 Apr 2024 09:00:00 +0200")
    assert read(data, "a.mbox").labels[0].text == "mail One 2024-04-22"


def test_mails_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eml, "MAX_MAILS", 1)
    document = read(MAILBOX, "a.mbox")
    assert document.text == "One\n\nwords\nFrom then on"
    assert document.metadata["remark"] == "only the first 1 of 3 mails are read"


def mail_with(name: str, kind: str, data: bytes) -> bytes:
    message = EmailMessage()
    message["From"] = "Greta Nor <greta@lab.example>"
    message["Subject"] = "Fire drill"
    message["Date"] = "Mon, 06 May 2024 08:00:00 +0200"
    message.set_content("See below.")
    message.add_attachment(data, *kind.split("/"), filename=name)
    return message.as_bytes()


def test_the_date_is_written_in_words_as_that_of_sending():
    assert (
        "\nSent: Monday 6 May 2024, 08:00\n"
        in read_whole(mail_with("a.txt", "application/x", b""), "a.eml").text
    )


def test_an_attached_document_is_read():
    document = read_whole(
        mail_with("rules.docx", "application/octet-stream", as_docx("Gloves are worn.")), "a.eml"
    )
    assert "Gloves are worn." in document.text
    assert [label.text for label in document.labels] == ["attachment rules.docx"]


def test_an_attached_invitation_is_read_as_an_event():
    event = b"BEGIN:VEVENT\nSUMMARY:Fire drill\nDTSTART:20240514T101500\nEND:VEVENT\n"
    invitation = b"BEGIN:VCALENDAR\n" + event + b"END:VCALENDAR\n"
    text = read_whole(mail_with("invite.ics", "text/calendar", invitation), "a.eml").text
    assert "When: Tuesday 14 May 2024, 10:15" in text


def test_a_broken_attachment_costs_a_remark():
    document = read_whole(mail_with("rules.docx", "application/octet-stream", b"PK\x03\x04broken"), "a.eml")
    assert "See below." in document.text
    assert document.metadata["remark"].startswith("attachment rules.docx cannot be read: ")
