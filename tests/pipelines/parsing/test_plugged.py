"""Parsers of other packages: loaded in the child, checked like all, and read again when they change."""

from __future__ import annotations

import zlib

import pytest
from made_plugins import PARSER, install

TEXT = "The gate of the lock was painted green by Ines Marsh."
POINTS = {"spanwise.parsers": {".notes": "made_parser:read"}}


@pytest.fixture
def notes(folder):
    path = folder / "gate.notes"
    path.write_bytes(TEXT.encode("utf-16"))
    return path


def sync(library):
    return library.sync(vectors=False, workers=1)


def rejected(report) -> dict[str, str]:
    return {one.document_id: one.reason for one in report.rejected}


def test_a_file_of_its_suffix_becomes_a_document(site, library, notes):
    install(site, POINTS, {"made_parser": PARSER})
    assert sync(library).added == ("gate.notes",)
    document = library.document("gate.notes")
    assert (document.text, document.media_type) == (TEXT, "text/x-notes")
    assert document.metadata["parser"] == "made-plugins 1.0"
    [hit] = library.search("Who painted the gate?", k=1, retriever="bm25")
    assert document.text[hit.passage.start : hit.passage.end] == hit.passage.text


def test_what_was_passed_over_is_read_once_there_is_a_parser(site, library, notes):
    notes.write_bytes(zlib.compress(TEXT.encode("utf-16")))
    assert sync(library).skipped["unsupported format .notes"] == 1
    assert sync(library).added == ()
    unpacked = PARSER.replace("data.decode", "__import__('zlib').decompress(data).decode")
    install(site, POINTS, {"made_parser": unpacked})
    assert sync(library).added == ("gate.notes",)


def test_another_version_reads_its_files_again_and_no_others(site, library, notes):
    install(site, POINTS, {"made_parser": PARSER})
    sync(library)
    assert sync(library).unchanged == 4
    (site / "made_plugins-1.0.dist-info").rename(site / "made_plugins-1.1.dist-info")
    install(site, POINTS, version="1.1")
    report = sync(library)
    assert (report.updated, report.unchanged) == (("gate.notes",), 3)
    assert library.document("gate.notes").metadata["parser"] == "made-plugins 1.1"


def test_without_its_parser_a_file_is_read_as_any_other(site, library, notes):
    notes.write_bytes(b"\xff\xfe" + TEXT.encode("utf-16-le"))
    info = install(site, POINTS, {"made_parser": PARSER})
    sync(library)
    for path in info.iterdir():
        path.unlink()
    info.rmdir()
    assert sync(library).updated == ("gate.notes",)
    assert "parser" not in library.document("gate.notes").metadata


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("boom", "(spanwise.parsers) failed: RuntimeError: it went boom"),
        ("nothing", "(spanwise.parsers) gave None where a Document was expected"),
    ],
)
def test_a_parser_that_fails_costs_that_file_and_names_its_package(site, library, notes, text, why):
    install(site, POINTS, {"made_parser": PARSER})
    notes.write_bytes(text.encode("utf-16"))
    (notes.parent / "more.txt").write_text("The gate is open.")
    report = sync(library)
    assert report.added == ("more.txt",)
    assert rejected(report) == {"gate.notes": f"the plug-in '.notes' of made-plugins 1.0 {why}"}


@pytest.mark.parametrize("source", ["1 / 0", "import sys; sys.exit(3)", "import os; os._exit(3)"])
def test_a_parser_that_cannot_be_loaded_costs_its_files_alone(site, library, notes, source):
    install(site, POINTS, {"made_parser": source})
    (notes.parent / "more.txt").write_text("The gate is open.")
    report = sync(library)
    assert report.added == ("more.txt",)
    assert list(rejected(report)) == ["gate.notes"]


def test_a_parser_for_a_suffix_that_is_read_here_is_not_asked(site, library, folder):
    install(site, {"spanwise.parsers": {".md": "made_parser:read"}}, {"made_parser": PARSER})
    (folder / "new.md").write_text("# Gates\n\nThe gate is open.\n")
    report = sync(library)
    assert (report.added, report.rejected, report.updated) == (("new.md",), (), ())


def test_two_parsers_for_one_suffix_name_each_other(site, library, notes):
    install(site, POINTS, {"made_parser": PARSER}, package="first")
    install(site, POINTS, package="second")
    [reason] = rejected(sync(library)).values()
    assert "first 1.0" in reason
    assert "second 1.0" in reason


def test_a_parser_that_takes_the_memory_is_held_to_its_limit(site, library, notes):
    install(site, POINTS, {"made_parser": "def read(data, name):\n    return bytearray(3 * 2**30)\n"})
    assert rejected(sync(library)) == {"gate.notes": "its parser needed more than 1 GB of memory"}


def test_indexing_says_which_parser_is_not_used_and_why(site, library, run):
    install(site, {"spanwise.parsers": {".md": "made_parser:read"}})
    code, _, err = run("index", "--index", library.store.path, "--lexical-only")
    assert code == 0
    assert "the plug-in '.md' of made-plugins 1.0 (spanwise.parsers) is not used: the name is built in" in err
