"""Near-duplicates from the folder to the screen: folded by default, all shown where that is asked for."""

from __future__ import annotations

import json

import pytest

import spanwise
from spanwise.pipelines.cli import main

COPIES = ("tram.txt", "tram-copy.txt", "old/tram.txt")


@pytest.fixture
def copies(folder):
    text = (folder / "tram.txt").read_text()
    (folder / "old").mkdir()
    for name in COPIES[1:]:
        (folder / name).write_text(text)
    return folder


def searched(library, **options):
    hits = library.search("tram minutes", retriever="bm25", **options)
    return [(hit.passage.document_id, [p.document_id for p in hit.duplicates]) for hit in hits]


def test_search_folds_copies_of_a_file(copies):
    with spanwise.open(copies) as library:
        library.sync(vectors=False)
        assert searched(library) == [("old/tram.txt", ["tram-copy.txt", "tram.txt"])]
        assert searched(library, dedupe=False) == [(name, []) for name in sorted(COPIES)]


def test_ask_reads_a_repeated_text_once_and_counts_who_agrees(copies, encoder_folder, reader_folder):
    with spanwise.open(copies, model=encoder_folder) as library:
        library.sync()
        question = {"question": "when was the tram opened?", "reader": reader_folder, "threshold": 0}
        best = library.ask(retriever="bm25", k=1, **question).best
        assert [p.document_id for p in best.duplicates] == ["tram-copy.txt", "tram.txt"]
        assert library.ask(retriever="bm25", k=1, dedupe=False, **question).best.duplicates == ()


def test_the_command_line_names_the_files(copies, capsys):
    with spanwise.open(copies) as library:
        library.sync(vectors=False)
    command = ["search", "tram minutes", "--index", str(copies), "--retriever", "bm25"]
    assert "(and 2 near-duplicates: tram-copy.txt, tram.txt)" in printed(capsys, command)
    [hit] = json.loads(printed(capsys, [*command, "--json"]))["hits"]
    assert [d["document"] for d in hit["duplicates"]] == ["tram-copy.txt", "tram.txt"]
    assert len(json.loads(printed(capsys, [*command, "--json", "--no-dedupe"]))["hits"]) == 3


def printed(capsys, command):
    with pytest.raises(SystemExit):
        main(command)
    return capsys.readouterr().out
