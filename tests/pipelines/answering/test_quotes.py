"""Quotes of a written answer: found as they stand, folded or in part, or nowhere."""

import json

import pytest

import spanwise
from spanwise.pipelines.answering.quotes import FoundWords, find_words, quotes_in

TEXT = "The weir was **built**\nin 1811 by Ada Rook, and it does not leak when the sluice-gates are shut."


@pytest.mark.parametrize(
    ("quote", "kind", "words"),
    [
        ("by Ada Rook, and", "exact", "by Ada Rook, and"),
        ("was built in 1811", "folded", "was **built**\nin 1811"),
        ("THE SLUICE GATES", "folded", "the sluice-gates"),
        ("the weir was in 1811 by Ada Rook", "partial", "The weir was **built**\nin 1811 by Ada Rook"),
        ("it does not leak if the sluicegates are closed", "partial", None),  # too few words
        ("it does not leak when the great sluice-gates are shut", "partial", TEXT[48:-1]),
        ("it does leak when the sluice-gates are shut", "partial", None),  # a negation more
        ("The weir was built in 1812 by Ada Rook", "partial", None),  # another number
        ("The weir was built in 1811 by Ada Falk", "partial", None),  # another name
        ("The weir was never built in 1811 by Ada Rook", "partial", None),  # a negation less
        ("eir was **built", "exact", None),
        ("uilt in 181", "folded", None),  # no whole words
    ],
)
def test_a_quote_is_found_with_its_numbers_names_and_negations(quote, kind, words):
    kinds = [kind] if kind != "partial" else ["exact", "folded", "partial"]
    found = next(filter(None, (find_words(quote, TEXT, each) for each in kinds)), None)
    assert (found and (found.match, TEXT[found.start : found.end])) == (words and (kind, words))


def test_signs_and_decimals_are_part_of_a_number():
    assert find_words("at -5 °C", "Store at 5 °C.", "folded") is None
    assert find_words("at 1.5 bar", "Keep at 15 bar.", "folded") is None
    assert find_words("at −5 °C", "Store at  -5 °C.", "folded") == FoundWords("folded", 6, 15)


def test_quotes_stand_in_marks_and_in_blocks():
    answer = 'It "rose [...] twice" and „fell“.\n\n> The weir\n> was built.\n\nNo "end here\n\n" «Hm».'
    assert [words for _, words in quotes_in(answer)] == ["rose", "twice", "fell", "The weir was built.", "Hm"]
    assert all(answer[start:].startswith(words) for start, words in quotes_in(answer) if "weir" not in words)


@pytest.fixture
def works(tmp_path):
    (tmp_path / "works").mkdir()
    (tmp_path / "works" / "weir.md").write_text(f"# Weir\n\n{TEXT}\n")
    (tmp_path / "works" / "mill.md").write_text("# Mill\n\nThe mill burned.\n")
    return tmp_path / "works"


def test_a_text_is_checked_against_a_folder(works, run, tmp_path):
    (tmp_path / "answer.md").write_text(
        'The mill "burned" and was "rebuilt in 1820"; the weir “was built in 1811”.'
    )
    code, out, err = run("check", "answer.md", works)
    assert code == 1
    assert [line.split()[0] for line in out.splitlines() if "“" in line] == ["exact", "nowhere", "folded"]
    assert "weir.md, line 3, Weir" in out
    assert "3 quotes, 1 of them nowhere in these documents" in err
    code, out, _ = run("check", "answer.md", "--index", works, "--json")
    [burned, rebuilt, built] = json.loads(out)["quotes"]
    assert (burned["document"], burned["line"], burned["text"]) == ("mill.md", 3, "burned")
    assert rebuilt == {"quote": "rebuilt in 1820", "at": 27, "match": "nowhere"}
    with spanwise.open_index(works) as library:
        text = library.document("weir.md").text
        assert text[built["start"] : built["end"]] == built["text"] == "was **built**\nin 1811"
        assert library.check("no quotes") == []
    (tmp_path / "answer.md").write_text('It "burned".')
    assert run("check", "answer.md", works)[0] == 0
    assert run("check", "none.md", works)[0] == 1
