"""TeX: the stored text is the source itself; only the sectioning commands of LaTeX are looked for.

Comments and verbatim text hold no heading. Nothing is expanded, `\\input` opens no file.
"""

from __future__ import annotations

import re

from spanwise.types import Document, Heading

from ..decoding import decode
from .source import source_document

MEDIA_TYPE = "text/x-tex"
COMMANDS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
TITLE = "title"
MAX_ARGUMENT = 1000  # characters of a heading
TOKEN = re.compile(
    r"(?P<escape>\\[\\%])|(?P<comment>%[^\r\n]*+)"
    r"|\\begin\{(?P<verbatim>verbatim\*?|Verbatim|lstlisting|minted|comment|filecontents\*?)\}"
    rf"|\\(?P<command>{'|'.join(COMMANDS)}|{TITLE})\*?"
    rf"[ \t]{{0,9}}(?:\[[^\[\]]{{0,{MAX_ARGUMENT}}}\][ \t]{{0,9}})?\{{"
)
BRACE = re.compile(r"\\.|[{}]", re.S)
COMMENT = re.compile(r"(?<!\\)%[^\r\n]*")
DROPPED = re.compile(r"\\(?:label|index|footnote|thanks|cite|ref|vspace|hspace)\*?\{[^{}]{0,300}\}")
COMMAND = re.compile(r"\\[a-zA-Z]{1,40}\*?(?:\[[^\[\]]{0,200}\])?[ \t]{0,9}|\\(?=[&%$#_{}])|\\\\")
SPACE = re.compile(r"~|\\[ ,;:]")


def read(data: bytes, document_id: str) -> Document:
    r"""The document of a .tex file; title from \title, else the file name."""
    decoded = decode(data)
    headings, title = find_headings(decoded[0])
    return source_document(data, document_id, MEDIA_TYPE, decoded, title, headings)


def find_headings(text: str) -> tuple[list[Heading], str]:
    """The sections, the highest kind that is there on level 1, and the argument of the first title."""
    found: list[tuple[int, str, str]] = []
    title, position = "", 0
    while token := TOKEN.search(text, position):
        position = token.end()
        if token["verbatim"]:
            position = _behind_verbatim(text, position, token["verbatim"])
        elif token["command"]:
            source, position = argument(text, position)
            if token["command"] == TITLE:
                title = title or plain(source)
            else:
                found.append((token.start(), token["command"], plain(source)))
    found = [section for section in found if section[2]]
    kinds = [command for command in COMMANDS if any(command == kind for _, kind, _ in found)]
    return [Heading(start, kinds.index(kind) + 1, words) for start, kind, words in found], title


def _behind_verbatim(text: str, start: int, name: str) -> int:
    """Where the environment ends, or the end of the text: TeX would find no more either."""
    end = text.find(rf"\end{{{name}}}", start)
    return end if end >= 0 else len(text)


def argument(text: str, start: int) -> tuple[str, int]:
    """What stands from `start` to the brace that closes it, and where that is.

    Empty when none does within `MAX_ARGUMENT` characters; the search goes on behind them.
    """
    depth, end = 1, start + MAX_ARGUMENT
    for brace in BRACE.finditer(text, start, end):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[start : brace.start()], brace.end()
    return "", end


def plain(source: str) -> str:
    """The words of an argument without commands, braces and comments; formulas stay as they are written."""
    words = SPACE.sub(" ", DROPPED.sub("", COMMENT.sub("", source)))
    return " ".join(COMMAND.sub("", words).replace("{", "").replace("}", "").split())
