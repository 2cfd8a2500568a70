"""What became of words: whole in passages, cut apart by chunking, read, proposed."""

from __future__ import annotations

from spanwise.pipelines.why_not.sought import sought
from spanwise.types import Document, Hit, Passage, ScoredSpan, Span

TEXT = "The mill was built by Ada Rook in 1811."
DOCUMENT = Document("mill.txt", "text/plain", "", "", TEXT)


def passage(number: int, start: int, end: int) -> Passage:
    return Passage(number, "mill.txt", start, end, TEXT[start:end])


def proposal(start: int, end: int, of: Passage, score: float) -> ScoredSpan:
    return ScoredSpan(Span("mill.txt", start, end, TEXT[start:end]), of, score, 0.0)


FIRST, SECOND, BOTH = passage(1, 0, 25), passage(2, 26, 39), passage(3, 18, 39)


def test_words_that_no_passage_holds_whole_were_cut():
    (place,) = sought("Ada Rook", DOCUMENT, [FIRST, SECOND], [], [])
    assert (place.span.text, place.passages, place.cut) == ("Ada Rook", (), (FIRST, SECOND))


def test_a_passage_that_overlaps_the_cut_holds_them():
    (place,) = sought("Ada Rook", DOCUMENT, [FIRST, BOTH, SECOND], [Hit(BOTH, 1.0, 7)], [[]])
    assert (place.passages, place.cut, place.rank, place.proposed) == ((BOTH,), (), 7, None)


def test_the_best_proposal_that_touches_them_is_told():
    near, far = proposal(26, 34, BOTH, 2.0), proposal(34, 38, BOTH, 9.0)
    (place,) = sought("ada rook", DOCUMENT, [BOTH], [Hit(BOTH, 1.0, 1)], [[far, near]])
    assert place.proposed == near


def test_each_place_is_told_and_words_in_no_passage_have_none():
    document = Document("a.txt", "text/plain", "", "", "mill and mill")
    places = sought("mill", document, [Passage(1, "a.txt", 0, 8, "mill and")], [], [])
    assert [(place.span.start, len(place.passages), place.cut) for place in places] == [
        (0, 1, ()),
        (9, 0, ()),
    ]
