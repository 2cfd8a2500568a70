"""Reads plain text, Markdown, reStructuredText, AsciiDoc and LaTeX: stored unchanged, with their headings.

markdown-it-py finds the headings of Markdown, below the front matter. Comments, settings in comments, struck
text, base64 and cue lines of subtitles are stored, but left out of what is searched and quoted. No directive
is expanded, and no other file is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from spanwise.types import Bounds, Heading, blanked

from ..decoding import decode
from ..front_matter import front_matter, without_tags
from ..sentences import ENTRY
from .builder import TextBuilder, first_line, one_line, source_builder

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE_END = re.compile(r"\r\n|\r|\n")  # as markdown-it counts lines
LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n|\Z)")

# reStructuredText: an underline of one punctuation character, and possibly an overline.
ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+")
MIN_UNDERLINE = 4  # an underline of this length or more may be shorter than its title
ROLE = re.compile(r":[\w:+.-]{1,60}:(?=`)")
TARGET = re.compile(r"\s?<[^<>`]{0,300}>(?=`)")
RST_MARKUP = re.compile(r"`{1,2}_{0,2}|\*{1,2}|\|")

# AsciiDoc: `== One line`, or an underline.
ONE_LINE = re.compile(r"(={1,6}|#{1,6})[ \t]{1,9}(?=\S)(.*)")
UNDERLINE = re.compile(r"=++|-++|~++|\^++|\++")
UNDERLINE_LEVELS = "=-~^+"
UNDERLINE_SLACK = 2  # the difference in length that a title and its underline may have
FENCE = re.compile(r"-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|`{3,}|--|[|,:!]={3,}")
# Lines directly above a title: attributes of the document or of the block, an anchor.
PREFACE = re.compile(r":[^:\s][^:]{0,99}:|\[.*\]\Z")
ANCHOR = re.compile(r"\[\[[^\]]{0,200}\]\]|\[#[^\]]{0,200}\]")
REFERENCE = re.compile(r"<<[^<>,]{0,200}(?:,([^<>]{0,200}))?>>")
LINK = re.compile(r"(?:link:|https?://)[^\s\[\]]{1,500}\[([^\]]{0,500})\]")
ADOC_MARKUP = re.compile(r"[`*_#+]{1,2}(?=\w)|(?<=\w)[`*_#+]{1,2}|`")

# LaTeX: the title and the sectioning commands, outside of verbatim text.
COMMANDS = "title part chapter section subsection subsubsection paragraph subparagraph".split()
WORDS = r"(?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]{0,300}\}){0,300}\}){0,1000}"  # with braces in braces
SECTION = re.compile(
    r"\\\\|\\begin\{(?P<code>verbatim\*?|Verbatim|lstlisting|minted|filecontents\*?)\}"
    r"(?s:.*?)(?:\\end\{(?P=code)\}|\Z)"
    rf"|\\(?P<command>{'|'.join(COMMANDS)})\*?[ \t]{{0,9}}(?:\[[^\[\]]{{0,1000}}\][ \t]{{0,9}})?"
    rf"\{{(?P<words>{WORDS})\}}"
)
DROPPED = re.compile(r"\\(?:label|index|footnote|thanks|cite|ref|vspace|hspace)\*?\{[^{}]{0,300}\}")
COMMAND = re.compile(r"\\[a-zA-Z]{1,40}\*?(?:\[[^\[\]]{0,200}\])?[ \t]{0,9}|\\(?=[&%$#_{}])|\\\\")
SPACE = re.compile(r"~|\\[ ,;:]")

# What is left out. The pattern of a format matches its code, which holds no comments, and in its group
# `hidden` what is left out. No pattern gives back what a repetition without a limit has matched, and none
# looks beyond the next mark of its kind, so a failed match takes linear time.
# Cue lines of subtitles; lines of base64, or one long run of it; data in a URL.
UNREADABLE = re.compile(
    r"(?P<hidden>^(?:\d{1,6}[ \t]{0,9}\r?\n)?(?:\d{1,3}:)?\d\d:\d\d[.,]\d{3} --> [^\r\n]*"
    r"|\AWEBVTT(?:[^\r\n]*+(?:\r\n|\r|\n)(?![^\r\n]*-->))*+[^\r\n]*+[\r\n]{1,2}(?=[^\r\n]*-->)|\AWEBVTT[^\r\n]*"
    r"|<(?:\d\d:)?\d\d:\d\d\.\d{3}>(?:<c[.\w]{0,40}>)?|<c(?:\.\w{1,40}){1,9}>"
    r"|</c>(?=<\d|[ \t]*$)|\{\\an?\d{1,2}\}"
    r"|data:[\w/+.-]{1,60}(?:;[\w=-]{1,40}){0,4};base64,[A-Za-z0-9+/=%]*+"
    r"|(?<![A-Za-z0-9+/])(?:(?:[A-Za-z0-9+/]{60,}+={0,2}+\r?+\n){3,}+(?:[A-Za-z0-9+/]{4,}+={1,2}+)?+"
    r"|[A-Za-z0-9+/]{400,}+={0,2}+))",
    re.M,
)
# A line of a file of settings: a setting in a comment, another comment, an item of a list, or a key.
SETTINGS_LINE = re.compile(
    r"^[ \t]*+(?:(?P<hidden>[#;!]++[ \t]*+(?:-[ \t]++)?(?:[\w.-]++[ \t]*+=|[a-z][\w.-]*+:(?!\S))"
    r"(?:[ \t]*+[^\s]++){0,5}+[ \t]*+(?![^\r\n]))|(?P<comment>[#;!])|(?P<item>-\s)"
    r"|(?P<key>[\"'\w./-]++[ \t]*+(?:=|:(?!\S))|\[)|(?P<other>\S))",
    re.M,
)
MAX_SETTINGS = 1_000_000  # characters at the top of a text that are searched for settings in comments
AT_START = r"(?<![^\r\n])"
AT_END = r"[ \t]*+(?![^\r\n])"
PARAGRAPH_END = r"\n[ \t]{0,99}\r?\n"
HIDDEN_IN_MARKDOWN = re.compile(
    # Code between fences, and in a paragraph.
    r"^[ \t>]{0,12}(?P<fence>`{3,}+|~{3,}+)(?s:.*?)(?:\n[ \t>]{0,12}(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`++)(?s:(?!(?P=ticks)|" + PARAGRAPH_END + r").){1,2000}+(?P=ticks)"
    # Comments of HTML, MDX, templates and Obsidian, and references without a target.
    r"|(?P<hidden>(?:<!--(?s:(?!<!--|-->).)*+){1,9}+-->|\{/\*(?s:(?!\{/\*|\*/\}).)*+\*/\}"
    r"|\{#(?=\s)(?s:(?!\{#|#\}).)*+#\}|(?<!\S)(?<!\d )%%(?s:(?!%%).)*+(?<!\d)%%"
    r"|^\[(?://|comment|_)\]: ?#[^\r\n]*|^\[[^\[\]\r\n]{1,99}\]: ?(?:#|<>) ?[(\"'][^\r\n]*"
    r"|\{%-? *comment *-?%\}(?s:(?!\{%).)*+\{%-? *endcomment *-?%\}|\{\{/\*(?s:(?!\{\{/\*|\*/\}\}).)*+\*/\}\}"
    # Struck text in a paragraph, and what CriticMarkup deletes and remarks.
    r"|\{--(?s:(?!\{--|--\}|" + PARAGRAPH_END + r").){1,2000}+--\}|\{>>(?s:(?!\{>>|<<\}).){0,2000}+<<\}"
    r"|\{~~(?s:(?!\{~~|~>|" + PARAGRAPH_END + r").){0,2000}+~>|~~\}"
    r"|(?<!\\)~~(?=[^\s~])(?s:(?!~~|" + PARAGRAPH_END + r").){1,2000}+(?<!\s)~~"
    r"|<(?P<tag>del|s|strike)(?:\s[^<>]{0,300})?>"
    r"(?s:(?!</?(?P=tag)[\s>]|" + PARAGRAPH_END + r").){0,2000}+</(?P=tag)>)",
    re.M | re.I,
)
# A comment goes on in the lines that are indented below it.
HIDDEN_IN_RST = re.compile(
    AT_START + r"(?P<indent>[ \t]{0,99})(?P<hidden>\.\."
    r"(?:[ \t]++(?!\[|_|\||[\w:+.-]{1,60}::)[^\r\n]*+|(?![^\r\n]))"
    r"(?:\s*?[\r\n](?P=indent)[ \t]++[^\r\n]++)*)"
)
HIDDEN_IN_ASCIIDOC = re.compile(
    rf"{AT_START}(?P<code>-{{4,}}|\.{{4,}}|`{{3,}}){AT_END}(?s:.*?)(?:[\r\n](?P=code){AT_END}|\Z)"
    rf"|(?P<hidden>{AT_START}(?P<block>/{{4,}}){AT_END}(?s:.*?)(?:[\r\n](?P=block){AT_END}|\Z)"
    rf"|{AT_START}\[comment\]{AT_END}(?:\r\n|\r|\n)(?:--{AT_END}(?s:.*?)(?:[\r\n]--{AT_END}|\Z)"
    r"|(?:[^\r\n]++(?:\r\n|\r|\n)?)*+)"
    rf"|{AT_START}//(?!/)[^\r\n]*|\[\.?line-through\](?P<sign>##?)[^#\r\n]{{1,1000}}(?P=sign))"
)
HIDDEN_IN_TEX = re.compile(
    r"\\[\\%]|\\(?:verb\*?|lstinline(?:\[[^\[\]]{0,200}\])?)(?P<mark>[^\w\s*{\[])[^\r\n]{0,500}?(?P=mark)"
    r"|\\(?:url|href|path|lstinline)\{[^{}]{0,1000}\}|\\begin\{(?P<code>verbatim\*?|Verbatim|lstlisting|minted)\}(?s:.*?)(?:\\end\{(?P=code)\}|\Z)"
    r"|(?P<hidden>%[^\r\n]*+|\\begin\{comment\}(?s:.*?)(?:\\end\{comment\}|\Z)"
    r"|(?<=\\end\{document\})\s*+\S(?s:.*+)|\\iffalse\b(?s:.*?)(?:\\fi|\Z)|\\(?:sout|st|deleted)\{[^{}]{0,1000}\})"
)


def read_text(data: bytes) -> TextBuilder:
    """The document of a plain text file, titled by its first line unless that is an entry of a log."""
    decoded = decode(data)
    left_out = apart([*_hidden(decoded[0], UNREADABLE), *_commented_out(decoded[0][:MAX_SETTINGS])])
    title = first_line(blanked(decoded[0], left_out))
    titles = [] if ENTRY.match(title) else [title]
    return source_builder("text/plain", decoded, *titles, left_out=left_out)


def read_markdown(data: bytes) -> TextBuilder:
    """The document of a Markdown file, titled by its front matter or a heading."""
    return _read(data, "text/markdown", markdown_headings, HIDDEN_IN_MARKDOWN)


def read_rst(data: bytes) -> TextBuilder:
    """The document of an .rst file, titled by a section."""
    return _read(data, "text/x-rst", rst_headings, HIDDEN_IN_RST)


def read_asciidoc(data: bytes) -> TextBuilder:
    """The document of an AsciiDoc file, titled by a heading."""
    return _read(data, "text/asciidoc", asciidoc_headings, HIDDEN_IN_ASCIIDOC)


def read_tex(data: bytes) -> TextBuilder:
    r"""The document of a .tex file, titled by its \title or a section."""
    return _read(data, "text/x-tex", tex_headings, HIDDEN_IN_TEX)


def _read(
    data: bytes,
    media_type: str,
    find: Callable[[str], list[Heading]],
    hiding: re.Pattern[str],
) -> TextBuilder:
    decoded = decode(data)
    left_out = _hidden(decoded[0], hiding, UNREADABLE)
    shown = blanked(decoded[0], left_out)
    headings = find(shown)
    title = title_heading(shown, headings)
    return source_builder(media_type, decoded, title, headings=headings, left_out=left_out)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The offset and the text of each line, right-stripped; a single "\\r" also ends a line."""
    for line in LINE.finditer(text):
        yield line.start(), line[0].rstrip()


def title_heading(text: str, headings: list[Heading]) -> str:
    """The first heading if no words stand above it, else the only one of the highest level, or ""."""
    if not headings:
        return ""
    first = headings[0]
    level = min(heading.level for heading in headings)
    tops = [heading for heading in headings if heading.level == level]
    above = text[front_matter(text)[0] : first.start]
    return first.text if not re.search(r"\w", above) else tops[0].text if len(tops) == 1 else ""


def markdown_headings(text: str) -> list[Heading]:
    """The ATX and setext headings below the front matter, outside code, quotes and lists."""
    from markdown_it import MarkdownIt

    start, _ = front_matter(text)
    line_starts = [start, *(match.end() for match in LINE_END.finditer(text, start))]
    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline", "text_join"])  # only headings need their inline markup parsed
    headings = []
    for opening, inline in pairwise(parser.parse(text[start:])):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            words = _markdown_words(parser, without_tags(inline.content))
            headings.append(Heading(line_starts[opening.map[0]], int(opening.tag[1:]), words))
    return [heading for heading in headings if heading.text]


def _markdown_words(parser: MarkdownIt, source: str) -> str:
    """The words of an inline source, without markup."""
    children: list[Token] = []
    parser.inline.parse(source, parser, {}, children)
    shown = (child for child in children if child.type != "html_inline")
    return one_line("".join(" " if child.type == "softbreak" else child.content for child in shown))


def rst_headings(text: str) -> list[Heading]:
    """The section titles; the order of their styles gives the levels."""
    styles: dict[tuple[str, bool], int] = {}
    headings: list[Heading] = []
    above_last = above = ""  # the two lines above; a title needs an empty line or its overline
    was_title = False
    for (start, line), (_, below) in pairwise(lines_of(text)):
        overlined = above == below and not above_last
        is_title = _is_underlined(line, below) and (overlined or not (above or line[0].isspace()))
        if is_title:
            level = styles.setdefault((below[0], overlined), len(styles) + 1)
            words = one_line(RST_MARKUP.sub("", TARGET.sub("", ROLE.sub("", line))))
            headings.append(Heading(start, level, words or line))
        above_last = above
        # An underline, a comment and a target end a block, as an empty line does.
        above = "" if was_title or line.startswith("..") else line
        was_title = is_title
    return headings


def _is_underlined(line: str, below: str) -> bool:
    if not line or not ADORNMENT.fullmatch(below) or ADORNMENT.fullmatch(line):
        return False
    return len(below) >= min(len(line), MIN_UNDERLINE)


def asciidoc_headings(text: str) -> list[Heading]:
    """The titles of the document and its sections outside delimited blocks; `=` has level 1."""
    headings: list[Heading] = []
    fence = ""  # the delimiter that closes the open block
    at_block_start = True
    is_underline = False
    for (start, line), (_, below) in pairwise([*lines_of(text), (len(text), "")]):
        if fence:
            fence = "" if line == fence else fence
        elif is_underline:
            is_underline = False
        elif FENCE.fullmatch(line):
            fence = line
            at_block_start = True
        elif not line or PREFACE.match(line):
            at_block_start = True
        elif at_block_start and (title := ONE_LINE.fullmatch(line)):
            headings.append(Heading(start, len(title[1]), _asciidoc_words(title[2])))
        elif at_block_start and _underlines(below, line):
            headings.append(Heading(start, UNDERLINE_LEVELS.index(below[0]) + 1, _asciidoc_words(line)))
            is_underline = True
        else:
            at_block_start = False
    return headings


def _underlines(line: str, title: str) -> bool:
    return (
        len(line) > 1
        and UNDERLINE.fullmatch(line) is not None
        and abs(len(line) - len(title)) <= UNDERLINE_SLACK
        and not title.startswith((".", "|", " ", "\t"))
        and any(character.isalnum() for character in title)
    )


def _asciidoc_words(title: str) -> str:
    words = LINK.sub(r"\1", REFERENCE.sub(r"\1", ANCHOR.sub("", title)))
    return one_line(ADOC_MARKUP.sub("", words.rstrip("=# "))) or title


def tex_headings(text: str) -> list[Heading]:
    """The title and the sections. The commands that occur give the levels, from 1."""
    matches = [match for match in SECTION.finditer(text) if match["command"] and _tex_words(match)]
    levels = sorted({COMMANDS.index(match["command"]) for match in matches})
    return [
        Heading(match.start(), levels.index(COMMANDS.index(match["command"])) + 1, _tex_words(match))
        for match in matches
    ]


def _tex_words(section: re.Match[str]) -> str:
    words = SPACE.sub(" ", DROPPED.sub("", section["words"]))
    return one_line(COMMAND.sub("", words).replace("{", "").replace("}", ""))


def _hidden(text: str, *patterns: re.Pattern[str]) -> list[Bounds]:
    """What patterns find outside code: comments, struck text, cue lines of subtitles and base64."""
    matches = (match for pattern in patterns for match in pattern.finditer(text))
    return apart(match.span("hidden") for match in matches if match["hidden"])


def _commented_out(text: str) -> list[Bounds]:
    """The settings in comments of a file of settings, but for comments above them all and an empty line."""
    places: dict[str, list[Bounds]] = {kind: [] for kind in SETTINGS_LINE.groupindex}
    for line in SETTINGS_LINE.finditer(text):
        kind = str(line.lastgroup)
        places[kind].append(line.span(kind))
    if len(places["key"]) <= len(places["other"]):
        return []
    preface = text.rfind("\n\n", 0, places["key"][0][0])
    return [bounds for bounds in places["hidden"] if bounds[0] > preface]


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
