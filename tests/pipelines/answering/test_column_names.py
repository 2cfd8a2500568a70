"""Words that are compared with the names of columns."""

import numpy as np
import pytest

from spanwise.corpora.tables import find_tables
from spanwise.index.analysis import Analyzer
from spanwise.models.cold_start import load_token_encoder
from spanwise.pipelines.answering.column_names import MAX_NAMES, SIMILAR, ColumnNames
from spanwise.pipelines.answering.lookup import look_up
from spanwise.pipelines.answering.table_text import TableText
from spanwise.types import Document

NAMES = ("Car", "Price", "Weight", "Closing time")


@pytest.mark.parametrize(
    ("question", "word", "name"),
    [
        ("how heavy is the festiva", "heavy", "Weight"),
        ("what does it cost", "cost", "Price"),
        ("when do we close on wednesday", "close", "Closing time"),
    ],
)
def test_a_word_is_most_similar_to_the_name_it_means(question, word, name):
    words = question.split()
    similar = ColumnNames(lambda: load_token_encoder("builtin")).similarities(words, NAMES)
    row = similar[words.index(word)]
    assert NAMES[int(np.argmax(row))] == name
    assert row.max() >= SIMILAR
    assert np.sort(row)[-2] < SIMILAR


def test_the_names_of_a_wide_table_load_no_model():
    names = tuple(map(str, range(MAX_NAMES + 1)))
    assert not ColumnNames(lambda: pytest.fail("loaded")).similarities(["price"], names).any()


class Flat:
    """An encoder to which all words are alike; `encoded` are its texts."""

    def __init__(self):
        self.encoded = []

    def encode_questions(self, texts):
        self.encoded += texts
        return [np.ones((len(text.split()), 1), np.float32) for text in texts]


def test_the_words_of_a_question_are_encoded_once_for_several_tables():
    flat = Flat()
    names = ColumnNames(lambda: flat)
    for table in (NAMES, ("Room",), NAMES):
        names.similarities(["how", "heavy"], table)
    assert flat.encoded == ["how heavy", "how", "heavy", *NAMES, "Room"]


@pytest.mark.parametrize(
    ("question", "is_encoded"),
    [("how heavy is the bolt", True), ("the largest weight", True), ("who wrote most letters", False)],
)
def test_a_question_is_encoded_only_if_its_words_meet_a_cell_or_a_column(question, is_encoded):
    text = "Tool | Weight\nBolt | 5 kg\nCrane | 30 kg"
    [table] = find_tables(Document("a", "text/html", "", "", text))
    flat = Flat()
    look_up(question, TableText(text, table, Analyzer()), (), ColumnNames(lambda: flat).similarities)
    assert bool(flat.encoded) is is_encoded
