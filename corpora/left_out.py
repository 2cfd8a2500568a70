"""The parts of sources that are never quoted: comments, struck text, base64, the cue lines of subtitles.

Each function returns ascending ranges of the text. A pattern of a format matches its code, which holds no
comments, and its group `hidden` what is left out. No pattern gives back what a repetition without a limit has
matched, and none looks beyond the next mark of its kind, so a failed match takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from spanwise.types import Bounds

# Cue lines of subtitles; lines of base64, or one long run of it; data in a URL.
UNREADABLE = re.compile(
    r"^(?:\d{1,6}[ \t]{0,9}\r?\n)?(?:\d{1,3}:)?\d\d:\d\d[.,]\d{3} --> [^\r\n]*|\AWEBVTT[^\r\n]*"
    r"|data:[\w/+.-]{1,60}(?:;[\w=-]{1,40}){0,4};base64,[A-Za-z0-9+/=%]*+"
    r"|(?:[A-Za-z0-9+/]{60,}+={0,2}+\r?+\n){3,}+(?:[A-Za-z0-9+/]{4,}+={1,2}+)?+|[A-Za-z0-9+/]{400,}+={0,2}+",
    re.M,
)
LINE_START = r"(?<![^\r\n])"
LINE_END = r"[ \t]*+(?![^\r\n])"
PARAGRAPH_END = r"\n[ \t]{0,99}\r?\n"
MARKDOWN = re.compile(
    # Code between fences, and in a paragraph.
    r"^[ \t>]{0,12}(?P<fence>`{3,}+|~{3,}+)(?s:.*?)(?:\n[ \t>]{0,12}(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`++)(?s:(?!(?P=ticks)|" + PARAGRAPH_END + r").){1,2000}+(?P=ticks)"
    # Comments of HTML, MDX, templates and Obsidian, and references without a target.
    r"|(?P<hidden>(?:<!--(?s:(?!<!--|-->).)*+){1,9}+-->|\{/\*(?s:(?!\{/\*|\*/\}).)*+\*/\}"
    r"|\{#(?=\s)(?s:(?!\{#|#\}).)*+#\}|(?<!\S)%%(?s:(?!%%).)*+(?<!\d)%%"
    r"|^\[(?://|comment|_)\]: ?#[^\r\n]*"
    # Struck text in a paragraph.
    r"|~~(?=[^\s~])(?s:(?!~~|" + PARAGRAPH_END + r").){1,2000}+(?<!\s)~~"
    r"|<(?P<tag>del|s|strike)(?:\s[^<>]{0,300})?>"
    r"(?s:(?!</?(?P=tag)[\s>]|" + PARAGRAPH_END + r").){0,2000}+</(?P=tag)>)",
    re.M | re.I,
)
# A comment goes on in the lines that are indented below it.
RST = re.compile(
    LINE_START + r"(?P<indent>[ \t]{0,99})(?P<hidden>\.\."
    r"(?:[ \t]++(?!\[|_|\||[\w:+.-]{1,60}::)[^\r\n]*+|(?![^\r\n]))"
    r"(?:\s*?[\r\n](?P=indent)[ \t]++[^\r\n]++)*)"
)
ASCIIDOC = re.compile(
    rf"{LINE_START}(?P<code>-{{4,}}|\.{{4,}}|`{{3,}}){LINE_END}(?s:.*?)(?:[\r\n](?P=code){LINE_END}|\Z)"
    rf"|(?P<hidden>{LINE_START}(?P<block>/{{4,}}){LINE_END}(?s:.*?)(?:[\r\n](?P=block){LINE_END}|\Z)"
    rf"|{LINE_START}//(?!/)[^\r\n]*|\[\.?line-through\]#[^#\r\n]{{1,1000}}#)"
)
TEX = re.compile(
    r"\\[\\%]|\\begin\{(?P<code>verbatim\*?|Verbatim|lstlisting|minted)\}(?s:.*?)(?:\\end\{(?P=code)\}|\Z)"
    r"|(?P<hidden>%[^\r\n]*+|\\begin\{comment\}(?s:.*?)(?:\\end\{comment\}|\Z)"
    r"|\\iffalse\b(?s:.*?)(?:\\fi|\Z)|\\(?:sout|st)\{[^{}]{0,1000}\})"
)


def of_text(text: str) -> list[Bounds]:
    """Cue lines of subtitles, and base64."""
    return apart(match.span() for match in UNREADABLE.finditer(text))


def of_markdown(text: str) -> list[Bounds]:
    """Comments of HTML, MDX, templates and Obsidian, struck text and base64."""
    return apart([*_hidden(MARKDOWN, text), *of_text(text)])


def of_rst(text: str) -> list[Bounds]:
    """Comments, with the lines that are indented below them."""
    return _hidden(RST, text)


def of_asciidoc(text: str) -> list[Bounds]:
    """Comment lines and blocks, and struck text."""
    return _hidden(ASCIIDOC, text)


def of_tex(text: str) -> list[Bounds]:
    """Comments outside of verbatim text, what `iffalse` and the environment `comment` hold, struck text."""
    return _hidden(TEX, text)


def _hidden(pattern: re.Pattern[str], text: str) -> list[Bounds]:
    return [match.span("hidden") for match in pattern.finditer(text) if match["hidden"]]


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
