"""Text as it is compared: NFKC and case folding, with a map back to the original characters.

Follows the NFKC_Casefold mapping of Unicode (UAX #31, section 5.1): case is folded, compatibility forms are
replaced, and format characters (bidi controls, zero-width characters, soft hyphens, tags, variation
selectors) disappear. One addition: the typographic apostrophe becomes the typewriter's.

Normalisation mixes neighbours (e + U+0301 is é), so it is applied to clusters: a character and whatever may
melt into it. Every folded character maps to the whole cluster it came from, so the map is monotone and a
span found in the folded text never cuts a letter from its accent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import normalize

from .characters import extenders, ignored

# Stream-safe text (UAX #15) has at most 30 marks in a row; longer rows are hostile and are cut.
_MOST_EXTENDERS = 30
NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class Folded:
    """`text[i]` came from `original[starts[i]:ends[i]]`; both sequences never decrease."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def fold(text: str) -> Folded:
    """The folded text and where each of its characters came from, in time linear in the text.

    >>> fold("Caf\\u0065\\u0301").text == "caf\\u00e9"
    True
    """
    if text.isascii():
        return Folded(text.lower(), range(len(text)), range(1, len(text) + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for cluster in _clusters().finditer(text):
        start, end = cluster.span()
        pieces.append(text[done:start].lower())
        starts.extend(range(done, start))
        ends.extend(range(done + 1, start + 1))
        folded, width = _fold_cluster(cluster.group())
        pieces.append(folded)
        starts.extend([start] * len(folded))
        ends.extend([start + width] * len(folded))
        done = end
    pieces.append(text[done:].lower())
    starts.extend(range(done, len(text)))
    ends.extend(range(done + 1, len(text) + 1))
    return Folded("".join(pieces), starts, ends)


def folded(text: str) -> str:
    """The text of `fold(text)`, without the map, in a fraction of its time.

    >>> folded("Caf\\u00c9") == fold("Caf\\u00c9").text
    True
    """
    if text.isascii():
        return text.lower()
    text = text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")  # ASCII alone
    pieces: list[str] = []
    done = 0
    for run in NOT_ASCII.finditer(text):
        start = max(run.start() - 1, done)  # what precedes a run may melt into its first character
        pieces += text[done:start], _clusters().sub(_folded_match, text[start : run.end()])
        done = run.end()
    return "".join(pieces) + text[done:]


def _folded_match(cluster: re.Match[str]) -> str:
    return _fold_cluster(cluster.group())[0]


@cache
def _clusters() -> re.Pattern[str]:
    """Finds every cluster that is more than one plain ASCII character."""
    extender = f"[{extenders()}]"
    return re.compile(
        f"[^\\x00-\\x7f]{extender}{{0,{_MOST_EXTENDERS}}}|[\\x00-\\x7f]{extender}{{1,{_MOST_EXTENDERS}}}"
    )


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> tuple[str, int]:
    """A cluster folded, and its length without trailing ignored characters."""
    kept = cluster.translate(_replacements())
    folded = normalize("NFKC", normalize("NFKC", normalize("NFKC", kept).casefold()).casefold())
    return folded.translate(_replacements()), len(cluster.rstrip(ignored()))


@cache
def _replacements() -> dict[int, str | None]:
    """For `str.translate`: ignored characters go, apostrophes become one."""
    return dict.fromkeys(map(ord, ignored()), None) | {0x2019: "'", 0x02BC: "'"}
