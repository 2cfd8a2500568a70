"""Reads Rich Text Format with striprtf: paragraphs and rows of tables, without headings.

striprtf keeps hidden, struck and deleted text, and knows no raised digits. Marks that are put into the source
where such text begins and ends come out in its place.
"""

import re

from spanwise.errors import DocumentRejected

from .builder import DOWN, LEVEL, UP, TextBuilder, one_line, settle

MEDIA_TYPE = "application/rtf"
MAX_BYTES = 50_000_000
TOKEN = re.compile(r"\\([a-z]{1,32})(-?[0-9]{1,10})? ?|\\.|[{}]", re.S)
HIDING = frozenset("v strike striked deleted".split())
SHIFTS = {"super": UP, "up": UP, "sub": DOWN, "dn": DOWN, "nosupersub": LEVEL}
HIDDEN = "\ufdd4"  # a mark like those of `settle`
HIDDEN_TEXT = re.compile(f"{HIDDEN}[^{UP}-{LEVEL}]*")
# The words that begin text boxes and numbers of lists, which striprtf passes over.
PASSED_OVER = re.compile(r"\\\*\\shpinst\b|\\(?:shp|shptxt|pntext)(?![a-z])")
WORDS = re.compile(r"[^|\n]+")


def read(data: bytes) -> TextBuilder:
    """The document of an .rtf file, titled by its first line."""
    from striprtf.striprtf import rtf_to_text

    if len(data) > MAX_BYTES:
        raise DocumentRejected(f"RTF of {len(data):,} bytes; the limit is {MAX_BYTES:,}")
    try:
        text = rtf_to_text(_marked(PASSED_OVER.sub("", data.decode("latin-1"))), errors="replace")
    except Exception as error:  # striprtf does not check the arguments of control words
        raise DocumentRejected(f"damaged RTF: {type(error).__name__}: {error}") from error
    builder = TextBuilder()
    text = settle(HIDDEN_TEXT.sub(lambda hidden: WORDS.sub("", hidden[0]), text))
    for line in text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split("\n"):
        is_row = line.endswith("|")  # striprtf ends each cell with it
        cells = [one_line(cell) for cell in line.split("|")[:-1]]
        builder.write_paragraph(
            " | ".join(cells) if is_row and any(cells) else line.rstrip(" |").strip(), blank=not is_row
        )
    return builder.described(MEDIA_TYPE, builder.first_line)


def _marked(source: str) -> str:
    """The source with a mark at each place from which its text is hidden, raised, lowered or plain."""
    pieces: list[str] = []
    end = 0
    hiding: frozenset[str] = frozenset()
    shift = LEVEL
    around: list[tuple[frozenset[str], str]] = []
    for token in TOKEN.finditer(source):
        before = (hiding, shift)
        word, argument = token.groups()
        if token[0] == "{":
            around.append(before)
        elif token[0] == "}" and around:
            hiding, shift = around.pop()
        elif word == "plain":
            hiding = frozenset()
            shift = LEVEL
        elif word in HIDING:
            hiding = hiding - {word} if argument == "0" else hiding | {word}
        elif word in SHIFTS:
            shift = LEVEL if argument == "0" else SHIFTS[word]
        if before != (hiding, shift):
            pieces += (source[end : token.end()], HIDDEN if hiding else shift)
            end = token.end()
    return "".join((*pieces, source[end:]))
