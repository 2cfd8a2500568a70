from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.question_record import Evidence, QuestionRecord
from spanwise.eval.report.marked_passage import MarkedPassage, occurrences, pieces, shown_passages

RANGES = st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40)).map(lambda pair: tuple(sorted(pair))))


def record(
    *evidence: Evidence, golds: tuple[str, ...] = ("mill",), documents: tuple[str, ...] = ()
) -> QuestionRecord:
    return QuestionRecord("bm25", "q1", "Where?", {}, golds=golds, documents=documents, evidence=evidence)


def passage(text: str, span: tuple[int, int] | None = None, document: str = "a.md") -> Evidence:
    return Evidence(document, 0, len(text), text, 1.0, span)


def marks(of: QuestionRecord) -> tuple[MarkedPassage, ...]:
    return shown_passages(of).passages


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
    [found] = marks(record(passage("the mill was here", (0, 3))))
    assert [(p.text, p.proposed, p.gold) for p in found.pieces] == [
        ("the", True, False),
        (" ", False, False),
        ("mill", False, True),
        (" was here", False, False),
    ]


def test_what_holds_an_answer_is_shown_before_what_ranks_above_it() -> None:
    others = [passage(f"nothing {i}", document=str(i)) for i in range(5)]
    found = shown_passages(record(*others, passage("the weir", (0, 3)), passage("a mill")))
    assert [one.rank for one in found.passages] == [1, 6, 7]
    assert found.others == 4


def test_a_right_word_in_a_wrong_document_does_not_count() -> None:
    pile = [passage("x", document=str(i)) for i in range(3)]
    shown = marks(record(*pile, passage("mill", document="b.md"), passage("mill"), documents=("a.md",)))
    assert [(found.rank, found.right_document) for found in shown] == [(1, False), (2, False), (5, True)]


def test_a_long_passage_is_cut_around_the_marks() -> None:
    far = "word " * 2000
    [found] = marks(record(passage(f"{far}mill {far}", None)))
    assert sum(len(piece.text) for piece in found.pieces) < 500
    assert found.pieces[0].text.startswith("… word")
    assert found.pieces[-1].text.endswith("word …")


def test_a_passage_that_was_proposed_from_twice_is_shown_once() -> None:
    [found] = marks(record(passage("a mill, a weir", (10, 14)), passage("a mill, a weir", (2, 6))))
    assert [piece.text for piece in found.pieces if piece.proposed] == ["mill", "weir"]


@given(st.text(alphabet="ab \n", max_size=900), st.integers(0, 900), st.integers(0, 900))
def test_what_is_cut_leaves_the_marks_and_the_space_beside_them(text: str, a: int, b: int) -> None:
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    [found] = marks(record(passage(text, (start, end)), golds=()))
    shown = "".join(piece.text for piece in found.pieces)
    assert text[max(0, start - 80) : start] + text[start : min(end, start + 80)] in shown or end == start
    assert text[max(start, end - 80) : end] + text[end : end + 80] in shown or end == start
