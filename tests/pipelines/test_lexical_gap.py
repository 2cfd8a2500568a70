"""Where words fail, meaning finds it: the built-in base through an index."""

from __future__ import annotations

import pytest

import spanwise

FILES = {
    "dog.txt": "What dog food should contain: meat, grain and some fat.",
    "doctor.txt": "The physician came every Tuesday.",
    "shop.txt": "Where to buy bread and candles.",
    "tram.txt": "The timetable of the tram hangs at the quay.",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gap")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with spanwise.open(folder) as opened:
        opened.sync()
        yield opened


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("canine nutrition", "dog.txt"),
        ("the town's doctor", "doctor.txt"),
        ("purchase of groceries", "shop.txt"),
    ],
)
def test_b11_dense_ranks_the_meaning_above_unrelated_texts(library, question, document):
    assert library.search(question, retriever="dense")[0].passage.document_id == document
    assert all(hit.passage.document_id != document for hit in library.search(question, retriever="bm25"))


def test_b13_a_larger_k_never_loses_a_hit(library):
    few = [hit.passage.id for hit in library.search("physician bread tram", k=2)]
    many = [hit.passage.id for hit in library.search("physician bread tram", k=4)]
    assert many[:2] == few
