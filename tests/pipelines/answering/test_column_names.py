"""Words that are compared with the names of columns."""

import numpy as np
import pytest

from spanwise.models.cold_start import load_token_encoder
from spanwise.pipelines.answering.column_names import MAX_NAMES, SIMILAR, ColumnNames

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
