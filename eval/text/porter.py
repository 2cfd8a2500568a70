"""Porter's stemmer as `rouge-score` applies it: the algorithm of 1980 with the departures of NLTK.

A word is seen as consonants and vowels, [C](VC)^m[V], and m, its measure, decides whether a suffix may go.
Source: Porter 1980, "An algorithm for suffix stripping"; NLTK's stemmer in its default mode for a list of
irregular words, for "ie" of four-letter words, for y after a vowel, and for -bli, -fulli, -alli and -logi.
The stemmer of the index is another one: this one serves comparison with published figures alone.
"""

from __future__ import annotations

_IRREGULAR = {word: word for word in "news inning outing canning howe proceed exceed succeed sky".split()} | {
    **{"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{"innings": "inning", "outings": "outing", "cannings": "canning"},
}

# suffix: what takes its place where the measure of the stem is large enough
_STEP_2 = {
    **{"ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble"},
    **{"alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate"},
    **{"ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al"},
    **{"iviti": "ive", "biliti": "ble", "fulli": "ful"},
}
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = dict.fromkeys(
    "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize".split(), ""
)


def porter_stem(word: str) -> str:
    """The stem of a word in lower case; words of one or two letters are their own.

    >>> [porter_stem(word) for word in ("millers", "grinding", "played", "happily", "technology")]
    ['miller', 'grind', 'play', 'happili', 'technolog']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _third_person(_participle(_plural(word)))
    return _final_l(_final_e(_bared(_replaced(_derived(word), _STEP_3, least=1))))


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _participle(word: str) -> str:
    """Step 1b: -ed and -ing go from a stem with a vowel, which then gets its e or single letter back."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    stem = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    shape = _shape(stem)
    if stem == word or "v" not in shape:
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-1:] == stem[-2:-1] and shape.endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if shape.count("vc") == 1 and _ends_cvc(stem) else stem


def _third_person(word: str) -> str:
    """Step 1c: y becomes i after a consonant that is not the first letter."""
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1]).endswith("c"):
        return word[:-1] + "i"
    return word


def _derived(word: str) -> str:
    """Step 2; what -alli leaves goes through it once more."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _derived(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _STEP_2, least=1)


def _bared(word: str) -> str:
    """Step 4; -ion goes after s and t, which count as of the stem."""
    if word.endswith(("sion", "tion")):
        return word[:-3] if _measure(word[:-3]) > 1 else word
    return _replaced(word, _STEP_4, least=2)


def _replaced(word: str, suffixes: dict[str, str], least: int) -> str:
    """The word with its longest suffix of these replaced, if the measure of the rest is not too small."""
    suffix = max((one for one in suffixes if word.endswith(one)), key=len, default="")
    stem = word.removesuffix(suffix)
    return stem + suffixes[suffix] if suffix and _measure(stem) >= least else word


def _final_e(word: str) -> str:
    """Step 5a."""
    stem = word.removesuffix("e")
    measure = _measure(stem)
    return stem if measure > 1 or (measure == 1 and not _ends_cvc(stem)) else word


def _final_l(word: str) -> str:
    """Step 5b."""
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    """A "c" or "v" for each letter; y is a vowel after a consonant.

    >>> _shape("syzygy"), _shape("toy")
    ('cvcvcv', 'cvc')
    """
    shape = ""
    for letter in word:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape.endswith("c")) else "c"
    return shape


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    """True for consonant, vowel, consonant at the end, if the last is not w, x or y, and for "vc" alone."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")
