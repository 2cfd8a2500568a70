"""The parts of sources that are never quoted: comments, struck text, base64, the cue lines of subtitles.

Each function returns ascending ranges of the text. Code in Markdown holds none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spanwise.types import Bounds

CUE = re.compile(
    r"^(?:\d{1,6}[ \t]{0,9}\r?\n)?(?:\d{1,3}:)?\d\d:\d\d[.,]\d{3} --> [^\r\n]*|\AWEBVTT[^\r\n]*", re.M
)
# Lines of base64, or one long run of it. Nothing is given back, so a failed match takes linear time.
BASE64 = re.compile(
    r"(?:[A-Za-z0-9+/]{60,}+={0,2}+\r?+\n){3,}+(?:[A-Za-z0-9+/]{4,}+={1,2}+)?+|[A-Za-z0-9+/]{400,}+={0,2}+"
)
DATA_URL = re.compile(r"data:[\w/+.-]{1,60}(?:;[\w=-]{1,40}){0,4};base64,[A-Za-z0-9+/=%]*+")
MARKDOWN = re.compile(
    r"(?P<fence>^[ \t>]{0,12}(?P<marks>`{3,}+|~{3,}+))|(?P<code>`++)|(?P<block><!--|\{/\*|\{#(?=\s)"
    r"|(?<!\S)%%)|(?P<struck>~~(?=[^\s~]))|<(?P<tag>del|s|strike)(?:\s[^<>]{0,300})?>"
    r"|(?P<reference>^\[(?://|comment|_)\]: ?#[^\r\n]*)",
    re.M | re.I,
)
CLOSING = {"<!--": "-->", "{/*": "*/}", "{#": "#}", "%%": "%%"}
MAX_INLINE = 2_000  # characters of struck text and of code in a paragraph
PARAGRAPH_END = re.compile(r"\n[ \t]{0,99}\r?\n")
RST_COMMENT = re.compile(r"([ \t]{0,99})\.\.(?:[ \t]{1,99}(?!\[|_|\||[\w:+.-]{1,60}::)|$)")
ADOC_BLOCK = re.compile(r"-{4,}|\.{4,}|/{4,}|`{3,}")
ADOC_STRUCK = re.compile(r"\[\.?line-through\]#[^#\r\n]{1,1000}#")
TEX = re.compile(
    r"\\[\\%]|(?P<comment>%[^\r\n]*+)|\\begin\{(?P<block>verbatim\*?|Verbatim|lstlisting|minted|comment)\}"
    r"|(?P<iffalse>\\iffalse\b)|(?P<struck>\\(?:sout|st)\{[^{}]{0,1000}\})"
)


def of_text(text: str) -> list[Bounds]:
    """Cue lines of subtitles, and base64."""
    return apart([match.span() for pattern in (CUE, BASE64, DATA_URL) for match in pattern.finditer(text)])


def of_markdown(text: str) -> list[Bounds]:
    """Comments of HTML, MDX, templates and Obsidian, struck text and base64."""
    return apart([*_of_markup(text), *of_text(text)])


def _of_markup(text: str) -> Iterator[Bounds]:
    position = 0
    unclosed: set[str] = set()  # closing marks that do not occur any more
    while opening := MARKDOWN.search(text, position):
        position = opening.end()
        if opening["fence"]:
            closed = re.compile(rf"\n[ \t>]{{0,12}}{opening['marks']}").search(text, position)
            position = closed.end() if closed else len(text)
        elif opening["reference"]:
            yield opening.span()
        elif opening["block"]:
            closing = CLOSING[opening[0]]
            end = -1 if closing in unclosed else text.find(closing, position)
            if end < 0:
                unclosed.add(closing)
            elif closing != "%%" or not text[end - 1].isdigit():  # 50%%
                position = end + len(closing)
                yield opening.start(), position
        elif end := _end_of_inline(text, opening):
            position = end
            if not opening["code"]:
                yield opening.start(), position


def _end_of_inline(text: str, opening: re.Match[str]) -> int:
    """The end of code or struck text that closes in its paragraph, or 0."""
    closing = f"</{opening['tag']}>" if opening["tag"] else opening[0]
    start = opening.end()
    end = text.find(closing, start, start + MAX_INLINE)
    if end < 0 or PARAGRAPH_END.search(text, start, end) or (opening["struck"] and text[end - 1].isspace()):
        return 0
    return end + len(closing)


def of_rst(lines: Iterable[tuple[int, str]]) -> list[Bounds]:
    """Comments, with the lines that are indented below them; the lines with their offsets."""
    ranges: list[Bounds] = []
    indent = -1  # of the open comment
    for start, line in lines:
        depth = len(line) - len(line.lstrip())
        if indent >= 0 and line and depth > indent:
            ranges[-1] = (ranges[-1][0], start + len(line))
        elif line:
            comment = RST_COMMENT.match(line)
            indent = len(comment[1]) if comment else -1
            if comment:
                ranges.append((start + indent, start + len(line)))
    return ranges


def of_asciidoc(lines: Iterable[tuple[int, str]]) -> list[Bounds]:
    """Comment lines and blocks, and struck text; the lines with their offsets."""
    ranges: list[Bounds] = []
    fence = ""
    for start, line in lines:
        end = start + len(line)
        if fence:
            if fence[0] == "/":
                ranges[-1] = (ranges[-1][0], end)
            fence = "" if line == fence else fence
        elif ADOC_BLOCK.fullmatch(line):
            fence = line
            if fence[0] == "/":
                ranges.append((start, end))
        elif line.startswith("//") and not line.startswith("///"):
            ranges.append((start, end))
        else:
            ranges += [
                (start + struck.start(), start + struck.end()) for struck in ADOC_STRUCK.finditer(line)
            ]
    return ranges


def of_tex(text: str) -> list[Bounds]:
    """Comments outside of verbatim text, what `iffalse` and the environment `comment` hold, struck text."""
    ranges: list[Bounds] = []
    position = 0
    while token := TEX.search(text, position):
        position = token.end()
        if token["block"] or token["iffalse"]:
            closing = rf"\end{{{token['block']}}}" if token["block"] else r"\fi"
            end = text.find(closing, position)
            position = end + len(closing) if end >= 0 else len(text)
        if token["comment"] or token["struck"] or token["iffalse"] or token["block"] == "comment":
            ranges.append((token.start(), position))
    return ranges


def apart(ranges: Iterable[Bounds]) -> list[Bounds]:
    """The ranges in order, those that touch or overlap as one.

    >>> apart([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    joined: list[Bounds] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
