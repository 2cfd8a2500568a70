"""The text analyzer: what a passage and a question are turned into before they are compared.

Both sides go through the same rules, whose settings are stored with the index:

- characters: NFKC, case folding, format characters dropped (see `fold`);
- words: runs of Unicode letters and digits with their marks; hyphens, dots, underscores and all other
  signs split (`twenty-five` is twenty, five). One inner apostrophe stays (`don't`), a final `'s` goes
  (`She's` is she);
- Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese: overlapping pairs of characters, a lone character by
  itself;
- the Snowball English stemmer, for other languages too, because a question does not say what it will find.

Passages keep their stop words; a question drops them unless nothing else is left, so that "Who?" and "to be
or not to be" can still be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from spanwise.errors import ModelMismatch

from .characters import UNSPACED, marks
from .fold import Folded, fold
from .stop_words import ENGLISH

_RULES = "2"  # raise it when the same text would give other terms
_LONGEST_STEMMED = 64  # longer runs are data, not words: hashes, base64
_MOST_REMEMBERED = 500_000
_ASCII_WORDS = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)?")


@dataclass(frozen=True, slots=True)
class Token:
    """A word as folded, before stemming, and the place it has in the original text."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Analyzer:
    """Settings of the analysis; equal settings give equal terms."""

    language: str = "english"
    stem: bool = True
    stop_words: bool = True
    _stems: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a language there are no rules for."""
        if self.language != "english":
            raise ValueError(f"language must be 'english', not {self.language!r}")

    def terms(self, text: str) -> list[str]:
        """The index terms of a passage, in text order, repeated as often as they occur.

        >>> Analyzer().terms("The ship's twenty-five sailors")
        ['the', 'ship', 'twenti', 'five', 'sailor']
        """
        known = self._stems.get
        return [known(word) or self.term(word) for word in _plain_words(fold(text).text)]

    def question_terms(self, question: str) -> list[str]:
        """The terms of a question: those of `terms` without stop words, unless nothing else is left."""
        words = _plain_words(fold(question).text)
        content = [word for word in words if word not in ENGLISH] if self.stop_words else words
        return [self.term(word) for word in content or words]

    def tokens(self, text: str) -> list[Token]:
        """Every word with its span: `text[start:end]` is what it was made from; starts never decrease.

        Words do not overlap, except the character pairs of scripts without spaces, and two words that
        share one character of the original (¼ is folded to 1 and 4).
        """
        folded = fold(text)
        return [_located(word, start, end, folded) for word, start, end in _words(folded.text)]

    def term(self, word: str) -> str:
        """The index term of one folded word."""
        if not self.stem or len(word) > _LONGEST_STEMMED:
            return word
        term = self._stems.get(word)
        return self._remember(word) if term is None else term

    def settings(self) -> dict[str, str]:
        """What an index stores to be sure that its terms can be made again."""
        return {
            "analyzer.rules": _RULES,
            "analyzer.language": self.language,
            "analyzer.stemmer": _stemmer_name() if self.stem else "none",
            "analyzer.stop_words": "english" if self.stop_words else "none",
        }

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Analyzer:
        """The analyzer that wrote an index, or `ModelMismatch` when this program would give other terms."""
        try:
            analyzer = cls(
                language=settings["analyzer.language"],
                stem=settings["analyzer.stemmer"] != "none",
                stop_words=settings["analyzer.stop_words"] != "none",
            )
        except KeyError as missing:
            raise ValueError(f"these settings name no {missing.args[0]}") from None
        for key, here in analyzer.settings().items():
            if settings.get(key) != here:
                raise ModelMismatch(
                    f"the index was analyzed with {key} = {settings.get(key)}, this program has {here}: "
                    "delete the index and run `spanwise index FOLDER` again"
                )
        return analyzer

    def _remember(self, word: str) -> str:
        # A stemmer holds the word it works on, so each word has its own and threads do not meet.
        from Stemmer import Stemmer

        if len(self._stems) >= _MOST_REMEMBERED:
            self._stems.clear()
        term: str = Stemmer("english", 0).stemWord(word)
        self._stems[word] = term
        return term


def _plain_words(folded: str) -> list[str]:
    """Words of folded text without their place, in half the time where all is ASCII."""
    if not folded.isascii():
        return [word for word, _, _ in _words(folded)]
    return [word[:-2] if word.endswith("'s") else word for word in _ASCII_WORDS.findall(folded)]


def _words(folded: str) -> Iterator[tuple[str, int, int]]:
    """Words of folded text with their place in it."""
    ascii_only = folded.isascii()
    for match in (_ASCII_WORDS if ascii_only else _unicode_words()).finditer(folded):
        word, (start, end) = match.group(), match.span()
        if not ascii_only and match.lastgroup == "unspaced":
            for first in range(start, max(end - 1, start + 1)):
                last = min(first + 2, end)
                yield folded[first:last], first, last
        elif word.endswith("'s"):
            yield word[:-2], start, end - 2
        else:
            yield word, start, end


def _located(word: str, start: int, end: int, folded: Folded) -> Token:
    return Token(word, folded.starts[start], folded.ends[end - 1])


@cache
def _unicode_words() -> re.Pattern[str]:
    letter, mark = f"[^\\W_{UNSPACED}]", f"[{marks()}]"
    run = f"(?:{letter}|{mark})"
    return re.compile(f"{letter}{run}*(?:'{letter}{run}*)?|(?P<unspaced>[{UNSPACED}]+)")


@cache
def _stemmer_name() -> str:
    import Stemmer

    return f"snowball english {Stemmer.version()}"
