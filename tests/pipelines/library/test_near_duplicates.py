"""Near-duplicates from the folder to the screen: folded by default, all shown where that is asked for."""

import json

import pytest

import spanwise

COPIES = ("tram.txt", "tram-copy.txt", "old/tram.txt")


@pytest.fixture
def copies(folder):
    text = (folder / "tram.txt").read_text()
    (folder / "old").mkdir()
    for name in COPIES[1:]:
        (folder / name).write_text(text)
    return folder


def test_ask_reads_a_repeated_text_once_and_counts_who_agrees(copies, encoder_folder, reader_folder):
    with spanwise.open(copies, model=encoder_folder) as library:
        library.sync()
        question = {"question": "when was the tram opened?", "reader": reader_folder, "threshold": 0}
        best = library.ask(retriever="bm25", k=1, **question).best
        assert [p.document_id for p in best.duplicates] == ["tram-copy.txt", "tram.txt"]
        assert library.ask(retriever="bm25", k=1, dedupe=False, **question).best.duplicates == ()


def test_search_folds_copies_of_a_file(copies, indexed, run):
    indexed(copies).close()
    command = ["search", "tram minutes", "--index", copies, "--retriever", "bm25"]
    assert "(and 2 near-duplicates: tram-copy.txt, tram.txt)" in run(*command)[1]
    [hit] = json.loads(run(*command, "--json")[1])["hits"]
    assert [copy["document"] for copy in hit["duplicates"]] == ["tram-copy.txt", "tram.txt"]
    assert len(json.loads(run(*command, "--json", "--no-dedupe")[1])["hits"]) == 3
