"""Classes of characters the standard `re` cannot name, as ranges for the inside of a `[...]`.

They follow the Unicode tables of the running Python. Built on first use (10 ms), so that pure ASCII text
never pays for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from unicodedata import category

# Letters of scripts written without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese, and
# Korean, where there is none between a word and its particles. The Katakana middle dot U+30FB is a separator
# and stays out, and so do digits.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f"
    "\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)

# Letters that may melt into the character before them under NFKC although they are no combining marks:
# Hangul vowels and finals, also as compatibility and half-width forms, and the half-width Kana voicing marks.
_MELTING = "\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7ff\uff9e-\uffdc"

# Ignored though their category is not Cf: the combining grapheme joiner, Hangul fillers, invisible Khmer
# vowels, and the Mongolian and general variation selectors.
_IGNORED = (
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0,
    *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
)  # fmt: skip


def _where(wanted: Callable[[str], bool]) -> Iterator[int]:
    """The code points whose category is wanted; planes 2 to 13 hold neither marks nor format characters."""
    codes = chain(range(0x80, 0x20000), range(0xE0000, 0xE0200))
    return (code for code in codes if wanted(category(chr(code))))


def _ranges(codes: Iterator[int]) -> str:
    """Ascending code points as the ranges of a character class."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


@cache
def ignored() -> str:
    """The characters that matching ignores: bidi controls, zero-width, soft hyphens, tags, selectors."""
    return "".join(map(chr, sorted({*_where(lambda name: name == "Cf"), *_IGNORED})))


@cache
def marks() -> str:
    """The combining marks (Mn, Mc, Me), as ranges: they belong to the letter before them."""
    return _ranges(_where(lambda name: name.startswith("M")))


@cache
def extenders() -> str:
    """What must be normalised together with the character before it, as ranges."""
    return marks() + _ranges(map(ord, ignored())) + _MELTING
