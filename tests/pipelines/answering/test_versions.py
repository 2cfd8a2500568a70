"""Versions of an answer in several documents."""

import pytest

import spanwise
from spanwise.pipelines.answering.versions import date_of
from spanwise.types import Document

RULE = "# Rules of the boat shed\n\n{}\n\nA canoe may be kept for {} days. The shed is locked at night.\n"
SHED = {
    "shed-2018.md": RULE.format("In force from 1 May 2018.", "three"),
    "shed-2021.md": RULE.format("In force from 1 May 2021. They replace those of 2018.", "five"),
    "shed-draft.md": RULE.format("Draft of March 2023, not in force.", "nine"),
    "kitchen.md": "# Rules of the kitchen\n\nA cake may be kept for two days. The oven is off at night.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shed")
    for name, text in SHED.items():
        (folder / name).write_text(text)
    with spanwise.open(folder, cache=False) as library:
        library.sync(vectors=False)
        yield library


def answer_to(library, question):
    return library.ask(question, retriever="bm25", reader="fast", threshold=0.01)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long may a canoe be kept?", "five days"),
        ("How long may a canoe be kept by the draft?", "nine days"),
        ("How long could a canoe be kept in 2019?", "three days"),
    ],
)
def test_the_version_that_is_asked_for_answers(library, question, text):
    assert answer_to(library, question).best.text == text


def test_other_versions_are_named_with_their_dates(library):
    answer = answer_to(library, "How long may a canoe be kept?")
    assert answer.best.date == "2021"
    assert [(each.text, each.date) for each in answer.otherwise] == [
        ("three days", "2018"),
        ("nine days", "2023-03"),
    ]


def test_a_sentence_about_something_else_is_no_version(library):
    answer = answer_to(library, "How long may a cake be kept?")
    assert (answer.best.text, answer.otherwise) == ("two days", ())


@pytest.mark.parametrize(
    ("name", "text", "metadata", "day"),
    [
        ("a.md", "Nothing.", {"date": "2024-05-02T10:00:00+02:00"}, 20240502),
        ("plan-2022.md", "Of 3 May 2023.", {}, 20220000),
        ("plan.md", "In force from 3 May 2023, in place of that of 2020.", {}, 20230503),
        ("plan.md", "Nothing.", {}, 0),
    ],
)
def test_a_document_is_dated_by_metadata_name_and_beginning(name, text, metadata, day):
    assert date_of(Document(name, "text/plain", "", "", text, metadata=metadata)) == day


def test_cells_have_versions(tmp_path):
    for year, price in ((2022, 12), (2024, 14)):
        rows = f"| Cut | Price |\n|---|---|\n| Beard | {price} |\n| Fringe | 6 |\n"
        (tmp_path / f"prices-{year}.md").write_text(f"# Prices of {year}\n\n{rows}")
    with spanwise.open(tmp_path, cache=False) as library:
        library.sync(vectors=False)
        answer = answer_to(library, "What is the price of a beard cut?")
        assert (answer.best.text, [each.text for each in answer.otherwise]) == ("14", ["12"])
        assert answer_to(library, "What was the price of a beard cut in 2022?").best.text == "12"


@pytest.mark.parametrize(
    ("texts", "question", "best"),
    [
        (
            ["| Code | Deposit |\n|---|---|\n| TH-1 | 150 |\n| TH-2 | 200 |"],
            "What is the deposit on TH-1?",
            "150",
        ),
        (
            ["[00:09] Speaker 2 (Tor): The winch comes on the 9th.\n[00:17] Speaker 2 (Tor): Forty tonnes."],
            "How heavy is the winch?",
            "Forty tonnes",
        ),
        (
            ["The lantern number 6 hangs on hook 42.", "The lantern number 7 hangs on hook 49."],
            "On which hook does lantern number 6 hang?",
            "42",
        ),
    ],
)
def test_other_rows_lines_of_a_speaker_and_numbers_are_no_versions(tmp_path, texts, question, best):
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.md").write_text(text)
    with spanwise.open(tmp_path, cache=False) as library:
        library.sync(vectors=False)
        answer = answer_to(library, question)
        assert (answer.best.text, answer.otherwise) == (best, ())
