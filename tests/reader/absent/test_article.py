from __future__ import annotations

from spanwise.reader.absent.article import Article, proper_names
from spanwise.reader.examples import ReaderExample

PASSAGES = (
    "The mill was built by Ada Rook in 1870.",
    "Since 1,204 the council of Varrow runs the mill.",
    "Ivo painted the mill. He lived in Lower Varrow.",
)
ASKED = ReaderExample("q", "Who built the mill of Varrow?", PASSAGES[0], 22, 30, "Mill")


def test_rivals_share_words_with_the_question_and_lack_the_answer():
    assert Article(PASSAGES).rivals(ASKED, 5) == [PASSAGES[1], PASSAGES[2]]
    assert Article([*PASSAGES, "The mill of ADA ROOK"]).rivals(ASKED, 1) == [PASSAGES[1]]


def test_figures_and_names_are_those_of_all_passages():
    article = Article(PASSAGES)
    assert article.figures == ["1,204", "1870"]
    assert article.names == ["Ada Rook", "Lower Varrow", "Varrow"]


def test_the_first_word_of_a_sentence_is_no_name():
    assert proper_names("Ada sold it. Then “Ivo” came to Varrow") == ["Varrow"]
