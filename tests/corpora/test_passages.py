"""Passages follow the sections of a document, overlap by whole sentences, and have exact places."""

from itertools import pairwise

import pytest
from helpers.document_checks import documents_of
from hypothesis import given, strategies as st

from spanwise.corpora.passages import WORD_WEIGHT, cut, passages_at, split
from spanwise.corpora.readers import markup
from spanwise.corpora.sentences import sentence_spans
from spanwise.types import Document, Passage

read_markdown = documents_of(markup.read_markdown)


def plain(text: str, **more: object) -> Document:
    return Document("d.txt", "text/plain", "0" * 64, "", text, **more)  # type: ignore[arg-type]


def passages(source: str, words: int = 40, overlap: int = 0) -> list[Passage]:
    return split(read_markdown(source.encode(), "d.md"), words, overlap)


def body(n_words: int, word: str = "word") -> str:
    """Sentences of five words."""
    return " ".join([f"The {word} is very nice."] * (n_words // 5))


def test_a_big_section_starts_a_passage() -> None:
    first, second = passages(f"# One\n\n{body(30)}\n\n# Two\n\n{body(30)}\n")
    assert first.text.startswith("# One")
    assert second.text.startswith("# Two")


def test_a_heading_is_never_left_alone() -> None:
    first, *_, last_but_one, last = passages(
        f"# Top\n\n## A\n\n{body(200)}\n\n## Empty\n\n# Next\n\n{body(30)}\n"
    )
    assert first.text.startswith("# Top\n\n## A\n\nThe word")
    assert last_but_one.text.endswith("## Empty")
    assert last.text.startswith("# Next\n\nThe")


def test_overlap_is_whole_sentences_up_to_its_words() -> None:
    first, second, *_ = split(plain(body(100)), words=20, overlap=12)
    assert second.start == first.end - len(body(10))
    assert second.text.startswith("The word")


def test_code_and_tables_stay_whole_where_they_fit() -> None:
    code = "```python\n" + "x = 1\n\n" * 8 + "```"
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 4
    source = f"# T\n\n{body(30)}\n\n{code}\n\n{body(30)}\n\n{table}\n{body(30)}\n"
    texts = [passage.text for passage in passages(source, overlap=10)]
    assert any(code in text for text in texts)
    assert any(table.strip() in text for text in texts)


def test_no_passage_is_far_over_the_budget() -> None:
    sizes = [len(passage.text.split()) for passage in split(plain(body(5000)), words=150, overlap=30)]
    assert max(sizes) <= 180
    assert min(sizes) >= 30


def test_pages_and_lines_are_those_of_the_start() -> None:
    text = f"{body(20)}\r\n\r\n{body(20)}\n{body(20)}"
    starts = (0, text.index("\r\n") + 4, text.rindex("\n") + 1)
    parts = split(plain(text, page_starts=starts), words=20, overlap=0)
    assert [passage.page for passage in parts] == [1, 2, 3]
    assert [passage.line for passage in parts] == [1, 3, 4]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_counts_as_one_line(end: str) -> None:
    text = end.join(["One.", "Two.", "", "Four."])
    [passage] = passages_at(plain(text), [(text.index("Four"), len(text))])
    assert passage.line == 4


def test_the_heading_path_starts_with_the_title() -> None:
    sections = [f"{heading}\n\n{body(35)}\n\n" for heading in ("# Top", "## A", "### AA", "## B")]
    source = f"---\ntitle: Book\n---\n{body(35)}\n\n{''.join(sections)}"
    assert [passage.heading for passage in passages(source, words=45)] == [
        ("Book",),
        ("Book", "Top"),
        ("Book", "Top", "A"),
        ("Book", "Top", "A", "AA"),
        ("Book", "Top", "B"),
    ]


@pytest.mark.parametrize(("words", "overlap"), [(0, 0), (10, 10), (10, -1), (-5, 0)])
def test_wrong_sizes_are_refused(words: int, overlap: int) -> None:
    with pytest.raises(ValueError, match=f"overlap {overlap} with {words} words"):
        split(plain("words"), words, overlap)


def pieces(text: str, words: int) -> list[str]:
    spans = cut(text, sentence_spans(text), [], words * WORD_WEIGHT)
    assert all(left[1] == right[0] for left, right in pairwise(spans))
    return [text[start:end] for start, end in spans]


def test_cuts_are_between_paragraphs_then_sentences_then_words() -> None:
    assert pieces("One two. Three.\n\nFive six seven.", 5) == ["One two. Three.\n\n", "Five six seven."]
    assert pieces("One two. Three four five. Six.", 3) == ["One two. ", "Three four five. ", "Six."]
    assert pieces("a b c d e f g h", 4) == ["a b c d ", "e f g h"]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 9))
def test_cuts_cover_any_text(text: str, words: int) -> None:
    if text:
        assert "".join(pieces(text, words)) == text
