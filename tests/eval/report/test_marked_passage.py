from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.question_record import Evidence, QuestionRecord
from spanwise.eval.report.marked_passage import marked_passages, occurrences, pieces

RANGES = st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40)).map(lambda pair: tuple(sorted(pair))))


def record(
    *evidence: Evidence, golds: tuple[str, ...] = ("mill",), documents: tuple[str, ...] = ()
) -> QuestionRecord:
    return QuestionRecord("bm25", "q1", "Where?", {}, golds=golds, documents=documents, evidence=evidence)


def passage(text: str, span: tuple[int, int] | None = None, document: str = "a.md") -> Evidence:
    return Evidence(document, 0, len(text), text, 1.0, span)


@given(st.text(max_size=40), RANGES, RANGES)
def test_pieces_are_the_text_again(
    text: str, proposed: list[tuple[int, int]], golds: list[tuple[int, int]]
) -> None:
    assert "".join(piece.text for piece in pieces(text, proposed, golds)) == text


def test_occurrences_stand_where_they_are_said_to_be_in_any_script() -> None:
    text = "İstanbul's MILL, the windmill; ﬁne mill\nhouse"
    assert [text[start:end] for start, end in occurrences(["mill house", "Mill"], text)] == [
        "MILL",
        "mill",
        "mill\nhouse",
    ]


def test_an_answer_of_signs_is_no_pattern() -> None:
    assert occurrences([".*", "(a+)+$", " "], "C++ (a+)+$ and .* too") == [(4, 10), (15, 17)]


def test_words_answered_and_right_are_marked_differently() -> None:
    [found] = marked_passages(record(passage("the mill was here", (0, 3))))
    assert [(p.text, p.proposed, p.gold) for p in found.pieces] == [
        ("the", True, False),
        (" ", False, False),
        ("mill", False, True),
        (" was here", False, False),
    ]


def test_what_holds_an_answer_is_shown_before_what_ranks_above_it() -> None:
    others = [passage(f"nothing {i}") for i in range(5)]
    shown = marked_passages(record(*others, passage("the weir", (0, 3)), passage("a mill")))
    assert [found.rank for found in shown] == [1, 6, 7]


def test_a_right_word_in_a_wrong_document_does_not_count() -> None:
    pile = [passage("x")] * 3
    shown = marked_passages(
        record(*pile, passage("mill", document="b.md"), passage("mill"), documents=("a.md",))
    )
    assert [(found.rank, found.right_document) for found in shown] == [(1, True), (2, True), (5, True)]


def test_a_long_passage_is_cut_around_the_marks() -> None:
    far = "word " * 2000
    [found] = marked_passages(record(passage(f"{far}mill {far}", None)))
    assert sum(len(piece.text) for piece in found.pieces) < 500
    assert found.pieces[0].text.startswith("… word")
    assert found.pieces[-1].text.endswith("word …")
