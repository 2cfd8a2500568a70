"""What is never quoted of sources: comments, struck text, base64, cue lines."""

import pytest
from hypothesis import given, strategies as st

from spanwise.corpora.passages import split
from spanwise.corpora.readers.markup import apart
from spanwise.corpora.reading import parse
from spanwise.types import blanked, within

BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4" * 9
PIECES = [
    "<!--",
    "-->",
    "~~",
    "%%",
    "`",
    "```",
    "\n",
    "\n\n",
    "a",
    " ",
    "<del>",
    "</del>",
    "{/*",
    "*/}",
    "{--",
    "--}",
    "~>",
]


def words_of(name: str, text: str) -> str:
    document = parse(text.encode(), name)
    assert document.text == text
    return " ".join(blanked(document.text, document.left_out).split())


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.md", "Opens <!-- at six\n\nor --> at ten.", "Opens at ten."),
        ("a.md", "Treasurer: ~~Ada Rook~~ Milo.", "Treasurer: Milo."),
        ("a.md", "Was <del>six</del> <s class='x'>five</s> ten.", "Was ten."),
        ("a.md", "Ferry %%draft%% at ten.\n\n%%\nblock\n\n%%\nend", "Ferry at ten. end"),
        ("a.mdx", "Plan {/* old */} at ten.", "Plan at ten."),
        ("a.md", "[//]: # (hidden)\nShown", "Shown"),
        ("a.md", '[comment]: <> (hidden)\n[top]: # "hidden"\nShown', "Shown"),
        ("a.md", "Fee {--40--}{++55++} {~~six~>ten~~}{>>ask<<} end", "Fee {++55++} ten end"),
        ("a.md", "Shown {% comment %}old{% endcomment %}{{/* old */}} end", "Shown end"),
        ("a.md", f"![pic](data:image/png;base64,{BASE64}) Bread", "![pic]( ) Bread"),
        ("a.txt", f"{BASE64}\nBread", "Bread"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,500\nGood morning.\n", "Good morning."),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000 align:start\nGood morning.\n", "Good morning."),
        ("a.vtt", "WEBVTT\n\nNOTE x\n\nid\n00:01.000 --> 00:02.000\nAt<00:01.500><c> ten</c>", "At ten"),
        ("a.rst", "Shown\n\n.. hidden\n   too\n\n   and this\n\nend", "Shown end"),
        ("a.rst", "..\n   hidden\n\nend", "end"),
        ("a.adoc", "Shown\n// hidden\nand\n////\nblock\n////\nend", "Shown and end"),
        ("a.adoc", "Now [.line-through]#five# ten", "Now ten"),
        ("a.adoc", "Now [line-through]##five## ten\n[comment]\n--\nold\n\nold\n--\nend", "Now ten end"),
        ("a.yml", "# Ports\na:\n  # port: 80 default\n  port: 91\n  # - x: 1\n", "# Ports a: port: 91"),
        ("a.yml", "# author: Ida\n\nport: 91\n\n# smtp:\n#   port: 25\n", "# author: Ida port: 91"),
        ("a.ini", "[mail]\r\nport = 587\r\n;port = 25\r\n", "[mail] port = 587"),
        ("env", "# LOG_LEVEL=debug\nLOG_LEVEL=warn\n", "LOG_LEVEL=warn"),
        ("a.tex", "A\n\\end{document}\nold", "A \\end{document}"),
        ("a.tex", "\\deleted{five} ten", "ten"),
        ("a.tex", "Fee 10 \\% of it % hidden\nend", "Fee 10 \\% of it end"),
        ("a.tex", "\\iffalse hidden \\fi \\sout{five} ten \\begin{comment}x\\end{comment}", "ten"),
    ],
)
def test_what_is_withdrawn_is_left_out(name, text, words):
    assert words_of(name, text) == words


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "```html\n<!-- shown -->\n```"),
        ("a.md", "- item\n\n  ```\n  ~~shown~~\n  ```\n\n"),
        ("a.md", "Write `<!-- shown -->` and `~~this~~`."),
        ("a.md", "An <!-- that never ends, ~~ and ~~ a %% sign, 50%%, {#id}"),
        ("a.md", "~~not\n\nstruck~~ \\~~shown~~ by 5 %% or 7 %% more"),
        ("a.yml", "# Note: shown\n# port: the one that all of the printers use\n# a b: c\nport: 91\n"),
        ("a.txt", "# shown: yes\n# total=5\nWords of a letter.\n"),
        ("a.rst", ".. note:: shown\n\n   shown\n\n.. [1] shown\n.. _target: shown\n.. |x| replace:: shown"),
        ("a.adoc", "----\n// shown\n----\nhttps://shown"),
        ("a.tex", "\\begin{verbatim}% shown\\end{verbatim} 10\\% shown"),
        ("a.tex", "\\verb|5% shown| \\url{x%20y} shown"),
        ("a.txt", "<!-- shown --> ~~shown~~ % shown, 00:10 to 00:20"),
    ],
)
def test_what_is_shown_is_kept(name, text):
    assert words_of(name, text) == " ".join(text.split())


def test_text_after_code_in_a_list_is_still_searched_for_comments():
    text = "- item\n\n  ```\n  code\n  ```\n\nShown <!-- hidden -->"
    assert words_of("a.md", text) == "- item ``` code ``` Shown"


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_ranges_ascend_and_passages_cover_the_rest(text):
    if not text.strip():
        return
    document = parse(f"x{text}".encode(), "a.md")
    places = [place for bounds in document.left_out for place in bounds]
    assert places == sorted(set(places))
    readable = blanked(document.text, document.left_out)
    passages = split(document)
    covered = {place for passage in passages for place in range(passage.start, passage.end)}
    assert covered >= {place for place, character in enumerate(readable) if not character.isspace()}
    for passage in passages:
        assert passage.readable == readable[passage.start : passage.end]
        assert passage.readable == passage.readable.strip()


def test_a_picture_in_base64_adds_no_passage():
    text = f"# Bread\n\nRest it.\n\n![](data:image/png;base64,{BASE64 * 200})\n\nBake it."
    [passage] = split(parse(text.encode(), "a.md"))
    assert passage.readable.split() == ["#", "Bread", "Rest", "it.", "![](", ")", "Bake", "it."]


def test_ranges_within_a_part_are_cut_to_it():
    assert within([(0, 4), (6, 9), (12, 15)], 3, 13) == ((0, 1), (3, 6), (9, 10))
    assert within([(0, 4)], 4, 9) == ()


def test_overlapping_ranges_are_one():
    assert apart([(3, 5), (0, 2), (2, 3), (7, 8)]) == [(0, 5), (7, 8)]
