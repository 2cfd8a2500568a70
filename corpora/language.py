"""The language a text is written in, told by its commonest words or else by py3langid.

Source of the classifier: Lui and Baldwin 2012, "langid.py: An Off-the-shelf Language Identification Tool";
py3langid is its maintained form, naive Bayes over byte n-grams. Its model takes a second and 80 MB to load,
so that English, which the commonest words alone give away, is told without it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

SAMPLE = 2000  # characters, from each of three places: a licence in front of a text does not decide
FEWEST_LETTERS = 20
SUREST = 0.8
# In English prose every third word is one of these; in no other language is every fifth.
ENGLISH = frozenset("the of and to a in is that for it as was with be on not he by are this at from".split())
ENGLISH_SHARE = 0.2
WORD = re.compile(r"[^\W\d_]+")
# The languages that the model tells and that have a code of two letters.
NAMES = dict(
    name.split(":")
    for name in """
    af:Afrikaans am:Amharic an:Aragonese ar:Arabic as:Assamese az:Azerbaijani ba:Bashkir be:Belarusian
    bg:Bulgarian bn:Bengali br:Breton bs:Bosnian ca:Catalan cs:Czech cy:Welsh da:Danish de:German dz:Dzongkha
    el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fo:Faroese
    fr:French fy:Frisian ga:Irish gd:Gaelic gl:Galician gu:Gujarati ha:Hausa he:Hebrew hi:Hindi hr:Croatian
    ht:Haitian hu:Hungarian hy:Armenian id:Indonesian ig:Igbo is:Icelandic it:Italian ja:Japanese jv:Javanese
    ka:Georgian kk:Kazakh km:Khmer kn:Kannada ko:Korean ku:Kurdish ky:Kyrgyz la:Latin lb:Luxembourgish
    lg:Ganda ln:Lingala lo:Lao lt:Lithuanian lv:Latvian mg:Malagasy mk:Macedonian ml:Malayalam mn:Mongolian
    mr:Marathi ms:Malay mt:Maltese my:Burmese ne:Nepali nl:Dutch nn:Nynorsk no:Norwegian oc:Occitan om:Oromo
    or:Odia pa:Punjabi pl:Polish ps:Pashto pt:Portuguese qu:Quechua ro:Romanian ru:Russian rw:Kinyarwanda
    sa:Sanskrit se:Sami si:Sinhala sk:Slovak sl:Slovenian sn:Shona so:Somali sq:Albanian sr:Serbian st:Sotho
    sv:Swedish sw:Swahili ta:Tamil te:Telugu tg:Tajik th:Thai tk:Turkmen tl:Tagalog tr:Turkish tt:Tatar
    ug:Uyghur uk:Ukrainian ur:Urdu uz:Uzbek vi:Vietnamese vo:Volapük wa:Walloon xh:Xhosa yo:Yoruba zh:Chinese
    zu:Zulu
    """.split()
)


def detect(text: str) -> str | None:
    """The ISO 639-1 code of a text's language; None when it is too short, no prose, or not surely told.

    Three samples of a long text are looked at, from its beginning, middle and end.

    >>> detect("It was built by the miller on the bank of the river, and it is still there.")
    'en'
    """
    sample = _sample(text)
    words = [word.lower() for word in WORD.findall(sample)]
    if sum(map(len, words)) < FEWEST_LETTERS:
        return None
    if _is_english(words):
        return "en"
    code, probability = _identifier().classify(sample)
    return code if probability >= SUREST and code in NAMES else None


def said(code: str) -> str:
    """What a person is told of a document in this language.

    >>> said("de")
    'in German (de)'
    """
    return f"in {NAMES.get(code, 'another language')} ({code})"


def _is_english(words: list[str]) -> bool:
    return sum(word in ENGLISH for word in words) >= ENGLISH_SHARE * len(words)


def _sample(text: str) -> str:
    if len(text) <= 3 * SAMPLE:
        return text
    middle = (len(text) - SAMPLE) // 2
    return "\n".join([text[:SAMPLE], text[middle : middle + SAMPLE], text[-SAMPLE:]])


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
