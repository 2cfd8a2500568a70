"""The text analyzer: the index terms of passages and questions.

Both go through the same rules, whose settings are stored with the index:

- characters: NFKC, case folding, format characters dropped, raised digits apart (see `fold`);
- words: runs of Unicode letters and digits with their marks; hyphens, dots, underscores and all other
  signs split (`twenty-five` is twenty, five). One inner apostrophe stays (`don't`), a final `'s` goes
  (`She's` is she);
- Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese: overlapping pairs of characters, a lone character by
  itself;
- the Snowball stemmer of the document's language (`languages.py`), of English words in American spelling; a
  question is stemmed by each language of the index.

Passages keep their stop words. A question drops them unless nothing else is left, so "Who?" and "to be or not
to be" still have results.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from unicodedata import category, normalize

from spanwise.errors import ModelMismatch

_RULES = "5"  # increase it when the same text would give other terms
# An index with the older ones answers until the next sync; 10\u2076 is 106 in "2", all is English in "3", and
# "4" knows neither American spelling nor spaced letters.
_READ_RULES = ("2", "3", "4", _RULES)
_LONGEST_STEMMED = 64  # longer runs are data such as hashes or base64, not words
_MAX_REMEMBERED = 500_000
# Stream-safe text (UAX #15) has at most 30 marks in a row; longer rows are hostile and are cut.
_MAX_EXTENDERS = 30
NAME = "/"  # before a term: the term as a part of a document's path
LANGUAGE = "@"  # before a code: a term of all passages in this language; those in English have none
ENGLISH = "en"
NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# Anything but Latin letters and common punctuation, which can be folded one by one.
_UNUSUAL = re.compile(r"[^\x00-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e]")
# The place between a digit and a raised or lowered one: 10\u2076 is not 106.
_JOINED = re.compile("(?<=\\d)(?=[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u2080-\u2089])")
# A number with separators, such as 1,249.50.
_GROUPED = re.compile(r"\b[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]{1,9})?\b")
# A word whose letters are spaced out, such as "T O T A L", but no row of letters.
SPACED = re.compile(r"(?<!\S)(?!(?i:a b c))(?:[^\W\d_] ){3,}[^\W\d_](?!\w)")
# British spelling, and what it is in American: colour, centre, organise, analyse; but no revise and precise.
_BRITISH = (
    (re.compile(r"(?<=[a-z]{3})our(?=(?:s|ed|ing|ful|able|al|ites?|hood)?\Z)"), "or"),
    (re.compile(r"(?<=[a-z]{2}[bt])re(?=s?\Z)"), "er"),
    (re.compile(r"(?<=[a-z]{2}[a-uw-z][iy])(?<!preci)s(?=(?:e[drs]?|ers|ing|ations?)\Z)"), "z"),
)
_APOSTROPHES = {0x2019: "'", 0x02BC: "'"}
_ASCII_WORDS = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)?")
_SUFFIX = re.compile(r"\.\w{1,9}\Z")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # LeaseOslo is Lease, Oslo
_DIGEST = re.compile(r"[0-9a-f-]{20,}", re.I)
_LONE = re.compile(r"\A[0-9]{1,3}\b\W*")
_MONTH = re.compile(r"\b(?:19|20)[0-9]{2}\W(0[1-9]|1[0-2])\b(?:\W[0-3][0-9]\b)?")
PLAIN_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")  # in text without rare characters

# Letters of scripts written without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese, and
# Korean, where there is none between a word and its particles. The Katakana middle dot U+30FB is a separator
# and stays out, and so do digits.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f"
    "\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)

# Letters that may combine with the character before them under NFKC although they are no combining marks:
# Hangul vowels and finals, also as compatibility and half-width forms, and the half-width Kana voicing marks.
_COMBINING = "\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7ff\uff9e-\uffdc"

# Ignored though their category is not Cf: the combining grapheme joiner, Hangul fillers, invisible Khmer
# vowels, and the Mongolian and general variation selectors.
_IGNORED = (
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0,
    *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
)  # fmt: skip
_UNWRITTEN = frozenset({"Mn", "Mc", "Me", "Cf"})  # categories of marks, and of format characters


# English function words carry no topic. Only closed classes are listed: articles, pronouns, question words,
# auxiliaries, prepositions, conjunctions and their contractions. Words that may carry meaning in a question
# (now, first, many, new, year) are kept.
_DETERMINERS_AND_PRONOUNS = """
    a an the this that these those some any each every either neither both all such same own other
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
"""
_QUESTION_WORDS = "what which who whom whose when where why how"
_AUXILIARIES = """
    am is are was were be been being have has had having do does did doing done
    can could will would shall should may might must ought
"""
_PREPOSITIONS_AND_CONJUNCTIONS = """
    of in on at by for from with without within into onto to toward towards upon about against between among
    through during before after above below under over up down out off
    and or but nor if then else than as because while until although though since so
    there here not no only too very just also again further once
"""
_CONTRACTIONS = """
    i'm i've i'd i'll you're you've you'd you'll we're we've we'd we'll they're they've they'd they'll
    he'd he'll she'd she'll it'd it'll that'll that'd who'd who'll who're what're there're there'd
    isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't cannot couldn't won't
    wouldn't shan't shouldn't mayn't mightn't mustn't needn't oughtn't
"""

STOP_WORDS: frozenset[str] = frozenset(
    _DETERMINERS_AND_PRONOUNS.split()
    + _QUESTION_WORDS.split()
    + _AUXILIARIES.split()
    + _PREPOSITIONS_AND_CONJUNCTIONS.split()
    + _CONTRACTIONS.split()
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text.

    word: folded, not stemmed
    start, end: its span in the original text
    """

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Analyzer:
    """Makes index terms and remembers the stems of words.

    languages: by which words are stemmed, the most frequent first
    """

    languages: tuple[str, ...] = (ENGLISH,)
    _stems: dict[str, dict[str, str]] = field(default_factory=dict, repr=False, compare=False)

    def in_languages(self, *languages: str) -> Analyzer:
        """The analyzer for these languages; both remember the same stems."""
        return self if languages == self.languages else Analyzer(languages, self._stems)

    @cached_property
    def by_language(self) -> tuple[Analyzer, ...]:
        """An analyzer for each language; a passage is in one of them."""
        return tuple(self.in_languages(language) for language in self.languages)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in text order, repeated ones, too; then plain numbers and spaced words.

        >>> Analyzer().terms("The ship's twenty-five sailors paid 1,249.50")
        ['the', 'ship', 'twenti', 'five', 'sailor', 'paid', '1', '249', '50', '1249', '5']
        """
        grouped = _GROUPED.findall(text) if "," in text else []
        plain = [f"{Decimal(number.replace(',', '')).normalize():f}" for number in grouped]
        spaced = [word.replace(" ", "") for word in SPACED.findall(text)]
        return self._terms(plain_words(" ".join([text, *plain, *spaced])))

    def passage_terms(self, text: str) -> list[str]:
        """The terms that the index holds for a passage in the analyzer's language."""
        return [
            *self.terms(text),
            *(LANGUAGE + language for language in self.languages if language != ENGLISH),
        ]

    def question_terms(self, question: str) -> list[str]:
        """The terms of a question without stop words, unless nothing else is left."""
        return self._terms(self.question_words(question))

    def question_words(self, question: str) -> list[str]:
        """The words of a question without stop words, unless nothing else is left."""
        words = plain_words(question)
        return [word for word in words if word not in STOP_WORDS] or words

    def stems(self, word: str) -> tuple[str, ...]:
        """The index terms of one folded word, one for each language that has another."""
        return tuple(dict.fromkeys(each.term(word) for each in self.by_language))

    def name_terms(self, document_id: str) -> frozenset[str]:
        """The terms of a document's name, without stop words and single letters; see `name_of`.

        >>> sorted(Analyzer().name_terms("Leases/OsloFlat-7.md"))
        ['7', 'flat', 'leas', 'oslo', 'osloflat']
        """
        name = name_of(document_id)
        words = plain_words(f"{name} {_HUMPS.sub(' ', name)}")
        return frozenset(
            self.term(word)
            for word in words
            if word not in STOP_WORDS and (len(word) > 1 or not "a" <= word <= "z")
        )

    def tokens(self, text: str) -> list[Token]:
        """Every word with its span in the text; starts never decrease.

        Words do not overlap, except the character pairs of scripts without spaces, and two words that
        share one character of the original (¼ is folded to 1 and 4).
        """
        whole = fold(text)
        spans = _words(whole.text)
        return [Token(word, whole.starts[start], whole.ends[end - 1]) for word, start, end in spans]

    def term(self, word: str) -> str:
        """The index term of one folded word in the first language."""
        if len(word) > _LONGEST_STEMMED:
            return word
        term = self._known.get(word)
        return self._remember(word) if term is None else term

    def settings(self) -> dict[str, str]:
        """The settings that an index stores, to check that its terms can be reproduced."""
        import Stemmer

        return {"analyzer.rules": _RULES, "analyzer.stemmer": f"snowball english {Stemmer.version()}"}

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Analyzer:
        """The analyzer of an index. Raise `ModelMismatch` if this program would make other terms."""
        analyzer = cls()
        for key, value in analyzer.settings().items():
            if settings.get(key) not in (_READ_RULES if value == _RULES else (value,)):
                raise ModelMismatch(
                    f"the index was analyzed with {key} = {settings.get(key)}, this program has {value}: "
                    "delete the index and run `spanwise index FOLDER` again"
                )
        return analyzer

    @cached_property
    def _known(self) -> dict[str, str]:
        return self._stems.setdefault(self.languages[0], {})

    def _terms(self, words: Sequence[str]) -> list[str]:
        if len(self.languages) > 1:
            return [term for word in words for term in self.stems(word)]
        known = self._known.get
        return [known(word) or self.term(word) for word in words]

    def _remember(self, word: str) -> str:
        # A stemmer is not thread-safe, so each word gets a new one.
        from Stemmer import Stemmer

        if len(self._known) >= _MAX_REMEMBERED:
            self._known.clear()
        language = self.languages[0]
        american = word
        for british, spelling in _BRITISH if language == ENGLISH else ():
            american = british.sub(spelling, american)
        term: str = Stemmer(language, 0).stemWord(american)
        self._known[word] = term
        return term


def name_of(document_id: str) -> str:
    """The words of folders and stem, with the month of a date.

    Digests, short numbers before the words, and ids that are numbers are left out.

    >>> name_of("clients/Acme/02_price_list 2023-05.docx")
    'clients Acme price list 2023-05 May'
    """
    if document_id.isdecimal():
        return ""
    parts = _SUFFIX.sub("", document_id).replace("_", " ").split("/")
    words = (_LONE.sub("", part) for part in parts if not _DIGEST.fullmatch(part))
    return _MONTH.sub(lambda date: f"{date[0]} {month_name[int(date[1])]}", " ".join(filter(None, words)))


def plain_words(text: str) -> list[str]:
    """The folded words of a text without their spans; much faster for text without rare characters."""
    text = folded(text)
    pattern = _word_pattern(text)
    if pattern.groups:
        return [word for word, _, _ in _words(text)]
    words = pattern.findall(text)
    return [word.removesuffix("'s") for word in words] if "'s" in text else words


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of folded text with their spans in it."""
    for match in _word_pattern(text).finditer(text):
        word = match.group()
        start, end = match.span()
        if match.lastgroup == "unspaced":
            for first in range(start, max(end - 1, start + 1)):
                last = min(first + 2, end)
                yield text[first:last], first, last
        elif word.endswith("'s"):
            yield word[:-2], start, end - 2
        else:
            yield word, start, end


def _word_pattern(text: str) -> re.Pattern[str]:
    """The fastest pattern for the words of folded text."""
    if text.isascii():
        return _ASCII_WORDS
    is_rare = _UNUSUAL.search(text) and _rare().search("".join(NOT_ASCII.findall(text)))
    return _unicode_words() if is_rare else PLAIN_WORDS


@cache
def _unicode_words() -> re.Pattern[str]:
    letter = f"[^\\W_{UNSPACED}]"
    run = f"(?:{letter}|[{marks()}])"
    return re.compile(f"{letter}{run}*(?:'{letter}{run}*)?|(?P<unspaced>[{UNSPACED}]+)")


@cache
def _rare() -> re.Pattern[str]:
    """Matches characters that need `_unicode_words`: marks, and scripts without spaces."""
    return re.compile(f"[{UNSPACED}{marks()}]")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A folded text: `text[i]` came from `original[starts[i]:ends[i]]`.

    text: the folded text
    starts, ends: a place per character; both never decrease
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def fold(text: str) -> FoldedText:
    """The folded text, with the span that each of its characters came from, in linear time.

    Follows NFKC_Casefold of Unicode (UAX #31, section 5.1): case is folded, compatibility forms are replaced,
    format characters (bidi controls, zero-width characters, soft hyphens, tags, variation selectors) are
    removed. In addition, the typographic apostrophe becomes the ASCII one. Normalisation combines neighbours
    (e + U+0301 is é), so it is applied to clusters: a character and all that may combine with it. Every
    folded character maps to its whole cluster, so a span of the folded text never separates a letter from its
    accent.

    >>> fold("Caf\\u0065\\u0301").text == "caf\\u00e9"
    True
    """
    if text.isascii():
        return FoldedText(text.lower(), range(len(text)), range(1, len(text) + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    joined = {match.start() for match in _JOINED.finditer(text)}
    for cluster in _clusters().finditer(text):
        start, end = cluster.span()
        pieces.append(text[done:start].lower())
        starts.extend(range(done, start))
        ends.extend(range(done + 1, start + 1))
        if start in joined:
            pieces.append(" ")
            starts.append(start)
            ends.append(start)
        folded, width = _fold_cluster(cluster.group())
        pieces.append(folded)
        starts.extend([start] * len(folded))
        ends.extend([start + width] * len(folded))
        done = end
    pieces.append(text[done:].lower())
    starts.extend(range(done, len(text)))
    ends.extend(range(done + 1, len(text) + 1))
    return FoldedText("".join(pieces), starts, ends)


def folded(text: str) -> str:
    """The text of `fold(text)` without the spans; much faster.

    >>> folded("Caf\\u00c9") == fold("Caf\\u00c9").text
    True
    """
    if text.isascii():
        return text.lower()
    text = text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")  # ASCII only
    text = _JOINED.sub(" ", text)
    if not _UNUSUAL.search(text):
        return NOT_ASCII.sub(lambda run: "".join(map(_fold_alone, run.group())), text)
    pieces: list[str] = []
    done = 0
    for run in NOT_ASCII.finditer(text):
        start = max(run.start() - 1, done)  # the run's first character may combine with the one before
        clusters = text[start : run.end()]
        pieces += text[done:start], _clusters().sub(lambda part: _fold_cluster(part[0])[0], clusters)
        done = run.end()
    return "".join(pieces) + text[done:]


@cache
def _clusters() -> re.Pattern[str]:
    """Matches every cluster except single ASCII characters."""
    extender = f"[{extenders()}]"
    return re.compile(
        f"[^\\x00-\\x7f]{extender}{{0,{_MAX_EXTENDERS}}}|[\\x00-\\x7f]{extender}{{1,{_MAX_EXTENDERS}}}"
    )


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> tuple[str, int]:
    """A folded cluster, and its length without trailing ignored characters."""
    folded_cluster = _normalized(cluster.translate(_replacements())).translate(_replacements())
    return folded_cluster, len(cluster.rstrip(ignored()))


@lru_cache(maxsize=1024)
def _fold_alone(character: str) -> str:
    """The result of `_fold_cluster` for a character that is not `_UNUSUAL`."""
    return _normalized(character.translate(_APOSTROPHES)).translate(_APOSTROPHES)


def _normalized(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", normalize("NFKC", text).casefold()).casefold())


@cache
def _replacements() -> dict[int, str | None]:
    """A table for `str.translate`: removes ignored characters and unifies apostrophes."""
    return dict.fromkeys(map(ord, ignored()), None) | _APOSTROPHES


@cache
def _marks_and_formats() -> list[tuple[int, str]]:
    """The code points of marks and format characters with their categories; planes 2 to 13 hold none."""
    codes = (*range(0x80, 0x20000), *range(0xE0000, 0xE0200))
    names = map(category, map(chr, codes))
    return [(code, name) for code, name in zip(codes, names, strict=True) if name in _UNWRITTEN]


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
    formats = (code for code, name in _marks_and_formats() if name == "Cf")
    return "".join(map(chr, sorted({*formats, *_IGNORED})))


@cache
def marks() -> str:
    """The combining marks (Mn, Mc, Me), as ranges; they belong to the letter before them."""
    return _ranges(code for code, name in _marks_and_formats() if name != "Cf")


@cache
def extenders() -> str:
    """The characters that must be normalised together with the one before them, as ranges."""
    return marks() + _ranges(map(ord, ignored())) + _COMBINING
