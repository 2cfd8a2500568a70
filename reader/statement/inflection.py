"""Forms of words by the dictionary of `lemminflect`, which is loaded when the first word is looked up.

Only what the dictionary lists counts. Forms that its networks would guess for unknown words are never asked
for: an unknown word has no part of speech here, and no other form.
"""

from __future__ import annotations

from functools import lru_cache

_ALWAYS_MANY = frozenset("people police cattle".split())
_TWO_VERBS = frozenset("lie hang bid shine relay".split())


@lru_cache(maxsize=4096)
def parts_of_speech(word: str) -> dict[str, tuple[str, ...]]:
    """The lemmas of a word by part of speech ("NOUN", "VERB", "ADJ", "ADV", "AUX"); none for unknown ones."""
    from lemminflect import getAllLemmas

    return {part: tuple(lemmas) for part, lemmas in getAllLemmas(word).items()}


@lru_cache(maxsize=4096)
def forms(lemma: str) -> dict[str, tuple[str, ...]]:
    """The forms of a verb by Penn Treebank tag ("VBD", "VBN", "VBG", "VBZ"), the usual spelling first."""
    from lemminflect import getAllInflections

    return {tag: tuple(found) for tag, found in getAllInflections(lemma, "VERB").items()}


def lemmas_of_verb(word: str) -> tuple[str, ...]:
    """The verbs that a word can be a form of."""
    known = parts_of_speech(word)
    return known.get("VERB", ()) or known.get("AUX", ())


def has_form(word: str, tag: str) -> bool:
    """Whether a word is that form of some verb; a participle that is not listed is the past form.

    >>> has_form("wrote", "VBD"), has_form("built", "VBN"), has_form("river", "VBZ")
    (True, True, False)
    """
    return any(word in _of_tag(lemma, tag) for lemma in lemmas_of_verb(word))


def is_base(word: str) -> bool:
    """Whether a word is a verb in its base form."""
    return word in lemmas_of_verb(word)


def is_noun(word: str) -> bool:
    """Whether the dictionary knows the word as a noun, too."""
    return "NOUN" in parts_of_speech(word)


def is_plural(word: str) -> bool:
    """Whether a word can only be the plural of a noun: "rivers", but neither "news" nor "series"."""
    lemmas = parts_of_speech(word).get("NOUN", ())
    return word in _ALWAYS_MANY or (bool(lemmas) and word not in lemmas)


def is_only_adjective(word: str) -> bool:
    """Whether a word is an adjective, and neither noun nor verb."""
    known = parts_of_speech(word)
    return "ADJ" in known and "NOUN" not in known and "VERB" not in known


def inflected(lemma: str, tag: str, seen: frozenset[str]) -> str | None:
    """That form of a verb, of several the one among the words `seen`, else the first; None without one.

    Verbs whose forms mean different things ("lay" and "lied") have one only when it is seen.

    >>> inflected("win", "VBD", frozenset()), inflected("lie", "VBD", frozenset())
    ('won', None)
    """
    found = _of_tag(lemma, tag)
    if len(found) > 1:
        known = [form for form in found if form in seen]
        if len(known) == 1:
            return known[0]
        if lemma in _TWO_VERBS:
            return None
    return found[0] if found else None


def _of_tag(lemma: str, tag: str) -> tuple[str, ...]:
    known = forms(lemma)
    return known.get(tag) or (known.get("VBD", ()) if tag == "VBN" else ())
