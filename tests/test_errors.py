"""Errors that are two kinds at once, as a user catches them."""

import pytest

import spanwise
from spanwise.errors import QuestionEmpty, SpanwiseError


@pytest.fixture
def library(tmp_path):
    (tmp_path / "mill.txt").write_text("The mill was built in 1811 by Ada Rook.\n")
    with spanwise.open(tmp_path) as library:
        library.sync(vectors=False)
        yield library


@pytest.mark.parametrize("caught", [QuestionEmpty, SpanwiseError, ValueError])
@pytest.mark.parametrize("method", ["ask", "search", "explain", "summarize"])
def test_an_empty_question_is_caught_by_name_as_our_error_and_as_a_wrong_value(library, method, caught):
    with pytest.raises(caught, match="the question is empty"):
        getattr(library, method)(" \n", retriever="bm25")
