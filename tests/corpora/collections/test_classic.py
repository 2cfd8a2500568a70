"""Cranfield, CACM, NPL and TREC's SGML, with the oddities of their files."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_collections import WRITERS, write

from spanwise.corpora.collections import CollectionDocument
from spanwise.corpora.collections.cacm import read_cacm
from spanwise.corpora.collections.cranfield import read_cranfield
from spanwise.corpora.collections.npl import read_npl
from spanwise.corpora.collections.smart import smart_records
from spanwise.corpora.collections.trec import trec_documents, trec_topics
from spanwise.errors import DataMalformed


def test_a_field_mark_within_text_is_passed_over_and_noted(tmp_path: Path) -> None:
    WRITERS["cranfield"](tmp_path)
    write(
        tmp_path / "cran.all.1400",
        ".I 1",
        ".T",
        "mill",
        ".A",
        "rook",
        ".B",
        ".W",
        "one",
        ".A",
        "two",
        ".B",
        "three",
    )
    collection = read_cranfield(tmp_path)
    assert collection.documents == (CollectionDocument("1", "mill", "one\ntwo\nthree\n\nrook"),)
    assert collection.notes[0] == "field marks within text, passed over, in documents: 1"


def test_cranfield_queries_count_by_their_order_and_grades_are_binary(tmp_path: Path) -> None:
    WRITERS["cranfield"](tmp_path)
    write(tmp_path / "cranqrel", "1 1 1", "1 2 4", "2 3 -1")
    collection = read_cranfield(tmp_path)
    assert [query.id for query in collection.queries] == ["1", "2"]  # the file says 002 and 004
    assert collection.qrels == {"1": {"1": 1, "2": 1}, "2": {"3": 0}}


@pytest.mark.parametrize("line", ["1 1", "1 1 5", "x 1 1", "1 1 1 1", "1 ² 1", f"{'9' * 5000} 1 1"])
def test_a_wrong_judgement_is_named(tmp_path: Path, line: str) -> None:
    WRITERS["cranfield"](tmp_path)
    write(tmp_path / "cranqrel", "1 1 1", line)
    with pytest.raises(DataMalformed, match="cranqrel, line 2: expected a judgement in 3 columns"):
        read_cranfield(tmp_path)


def test_a_pair_judged_twice_is_named(tmp_path: Path) -> None:
    WRITERS["cacm"](tmp_path)
    write(tmp_path / "qrels.text", "01 1 0 0", "1 01 0 0")
    with pytest.raises(DataMalformed, match=r"qrels\.text, line 2: query 1 judges document 1 twice"):
        read_cacm(tmp_path)


def test_cacm_documents_hold_authors_and_keywords(tmp_path: Path) -> None:
    WRITERS["cacm"](tmp_path)
    write(
        tmp_path / "cacm.all",
        ".I 1",
        ".T",
        "mill",
        ".B",
        "CACM 1958",
        ".A",
        "Rook, A.",
        ".K",
        "grain",
        ".N",
        "note",
    )
    assert read_cacm(tmp_path).documents == (CollectionDocument("1", "mill", "Rook, A.\n\ngrain"),)


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["text", ".I 1"], "line 1"),
        ([".I one"], "line 1"),
        ([".I 1", "text"], "line 2"),
        ([".Ink"], "line 1"),
    ],
)
def test_a_record_out_of_form_is_named(tmp_path: Path, lines: list[str], place: str) -> None:
    write(tmp_path / "records", *lines)
    with pytest.raises(DataMalformed, match=rf"records, {place}: expected"):
        list(smart_records(tmp_path / "records"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1", "text"], "line 1: the last block has no line with '/'"),
        (["one", "/"], "line 1: expected a number, found 'one'"),
        (["1", "/", "", "/"], "line 4: expected a number, found '/'"),
    ],
)
def test_a_block_of_npl_out_of_form_is_named(tmp_path: Path, lines: list[str], message: str) -> None:
    WRITERS["npl"](tmp_path)
    write(tmp_path / "doc-text", *lines)
    with pytest.raises(DataMalformed, match=f"doc-text, {message}"):
        read_npl(tmp_path)


def test_old_files_may_be_in_latin_1(tmp_path: Path) -> None:
    WRITERS["npl"](tmp_path)
    (tmp_path / "doc-text").write_bytes("1\nthe café of André Châtelain\n/\n".encode("latin-1"))
    assert read_npl(tmp_path).documents[0].text == "the café of André Châtelain"


def test_trec_documents_without_text_elements_are_text_without_tags(tmp_path: Path) -> None:
    write(tmp_path / "a.trec", "<doc><docno>A&1</docno><HL>A &amp; B</HL>", "1 < 2 <P>and</P>", "</doc>")
    [(place, document)] = trec_documents(tmp_path / "a.trec")
    assert document == CollectionDocument("A&1", "A & B", "1 < 2  and")
    assert place.endswith("a.trec, line 1")


def test_trec_topics_need_no_closing_tags(tmp_path: Path) -> None:
    fields = ["<num> Number: 301", "<title> Topic: mills &amp; weirs", "", "<desc> Description:"]
    write(tmp_path / "topics.trec", "<top>", *fields, "</top>")
    [(_, query)] = trec_topics(tmp_path / "topics.trec")
    assert (query.id, query.text) == ("301", "mills & weirs")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<DOC><DOCNO>1</DOCNO>", "line 1: this <DOC> has no </DOC>"),
        ("<DOC>\n<DOC>\n</DOC>", "line 1: this <DOC> has no </DOC>"),
        ("\n</DOC>", "line 2: expected <DOC>, found '</DOC>'"),
        ("<DOC><DOCNO>1</DOCNO></DOC>\nx", "line 1: expected <DOC>, found 'x'"),
        ("<DOC>x</DOC>", r"line 1: expected one <DOCNO> in the <DOC>, found 0"),
    ],
)
def test_trec_tags_out_of_order_are_named(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path / "a.trec", text)
    with pytest.raises(DataMalformed, match=f"a.trec, {message}"):
        list(trec_documents(tmp_path / "a.trec"))
