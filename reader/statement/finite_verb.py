"""Where the verb of a question is: no tagger, only what the dictionary allows and what stands around a word.

Each function gives the only place that is left, or None. Words of names and titles, words behind
determiners, adjectives and prepositions are never verbs here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .inflection import has_form, is_base, is_noun, is_only_adjective, is_plural, lemmas_of_verb
from .words import (
    AUXILIARIES,
    CLOSED,
    CONJUNCTIONS,
    DETERMINERS,
    NUMBER_WORDS,
    PARTICLES,
    PREPOSITIONS,
    Word,
    is_adverb,
    is_preposition,
)

_HELPING = frozenset("help make let see hear have watch feel".split())


def finite_verb(words: Sequence[Word], following: Sequence[Word], strict: bool = False) -> int | None:
    """The place of the only word that can be the finite verb behind "what" or "which" and its nouns.

    `following` are the words behind; with `strict` only forms count that can be nothing but a verb.
    """
    every = [*words, *following]
    found = [at for at in range(2, len(words)) if _is_finite(every, at, strict)]
    return found[0] if len(found) == 1 else None


def opens_with_verb(words: Sequence[Word]) -> bool:
    """Whether the finite verb stands right behind "what" or "which", as in "What causes rain?"."""
    at = 2 if len(words) > 3 and is_adverb(words[1]) else 1
    core = words[at].core
    if not _may_be_verb(words, at):
        return False
    if has_form(core, "VBD") and not is_noun(core):
        return not has_form(core, "VBN") or _opens_part(words, at + 1)
    if not has_form(core, "VBZ") and not has_form(core, "VBD"):
        return False
    others = any(word.core in AUXILIARIES and not word.quoted for word in words[at + 1 :])
    if others or not _opens_part(words, at + 1):
        return False
    later = finite_verb(words[at:], ())
    return words[at + 1].core in DETERMINERS or later is None or not has_form(words[at + later].core, "VBD")


def _is_finite(words: Sequence[Word], at: int, strict: bool) -> bool:
    word, before = words[at], words[at - 1]
    core = word.core
    if not _may_be_verb(words, at):
        return False
    if has_form(core, "VBD"):
        return not (strict and has_form(core, "VBN"))
    if has_form(core, "VBZ"):
        return not is_noun(core) or (not strict and not is_plural(before.core) and _opens_part(words, at + 1))
    return not strict and is_base(core) and is_plural(before.core) and _opens_part(words, at + 1)


def _opens_part(words: Sequence[Word], at: int) -> bool:
    """Whether an object or adjunct begins there, or the words end."""
    if at >= len(words):
        return True
    word = words[at]
    if word.is_name or word.core in DETERMINERS or word.core in PARTICLES:
        return True
    return is_preposition(word) or is_adverb(word) or is_plural(word.core)


def _may_be_verb(words: Sequence[Word], at: int) -> bool:
    """Whether the word is none of a closed class, of a name, or behind what only nouns follow."""
    word, before = words[at], words[at - 1]
    if word.is_name or not word.core.isalpha() or word.core in CLOSED:
        return False
    return at == 0 or not _wants_noun(words, at - 1) or is_adverb(before)


def _wants_noun(words: Sequence[Word], at: int) -> bool:
    """Whether only a noun phrase can go on behind the word there."""
    word = words[at]
    if word.quoted or word.ends_part:
        return False
    core = word.lower
    if core in DETERMINERS or core in CONJUNCTIONS or (core in PREPOSITIONS and word.core.islower()):
        return True
    if core in NUMBER_WORDS or core.isdigit():
        return at == 0 or not words[at - 1].is_name
    return core.endswith(("'s", "’s")) or (word.core.islower() and is_only_adjective(core))


def base_verb(words: Sequence[Word], seen: frozenset[str]) -> int | None:
    """The place of the main verb in its base form behind an auxiliary and the subject, or None.

    `seen` are the words of the sentence that carries the answer: of several candidates the one is taken
    that stands there in another form, which no noun has.
    """
    found = [at for at in range(1, len(words)) if _may_be_verb(words, at) and is_base(words[at].core)]
    found += [at for at in range(1, len(words)) if words[at].core in ("do", "have", "be") and at not in found]
    found = sorted(
        at for at in found if at == 1 or not _wants_noun(words, at - 1) or is_adverb(words[at - 1])
    )
    if not found:
        return next((at for at in range(1, len(words)) if words[at].core == "last"), None)
    if len(found) == 1:
        return found[0]
    before_object = [at for at in found if at + 1 < len(words) and words[at + 1].core in DETERMINERS]
    pure = [at for at in found if not is_noun(words[at].core)]
    if len(pure) == 1 and not any(words[at].core in _HELPING for at in found if at < pure[0]):
        return pure[0]
    if len(before_object) == 1 and not pure:
        return before_object[0]
    return _seen(words, found, seen, lambda core, lemma: core != lemma and not is_noun(core))


def participle(words: Sequence[Word], seen: frozenset[str]) -> int | None:
    """The place of the main participle behind "be" or "have" and the subject; -1 where there is none.

    None where several words could be it. A proper name takes no participle that belongs to it, so that
    the first one behind it is the verb's.
    """
    found = [
        at
        for at in range(1, len(words))
        if _may_be_verb(words, at)
        and is_participle(words[at])
        and words[at - 1].core not in ("who", "that", "which")
    ]
    if len(found) <= 1:
        return found[0] if found else -1
    pure = [at for at in found if not is_noun(words[at].core)]
    if len(pure) == 1:
        return pure[0]
    if all(word.is_name for word in words[: found[0]]):
        return found[0]
    return _seen(words, found, seen, lambda core, _: is_participle_form(core))


def is_participle(word: Word) -> bool:
    """Whether a word of no name is a past participle, or an -ing form that is no noun."""
    core = word.core
    if word.quoted or not core.islower() or core in CLOSED:
        return False
    return has_form(core, "VBN") or (has_form(core, "VBG") and not is_noun(core))


def is_participle_form(core: str) -> bool:
    """Whether a lower-case word is a past participle."""
    return has_form(core, "VBN")


def predicate_adjective(words: Sequence[Word]) -> int | None:
    """The place of the only adjective that no noun follows; -1 without one, None where there are several."""
    found = [
        at
        for at in range(1, len(words))
        if words[at].core.islower()
        and is_only_adjective(words[at].core)
        and not _wants_noun(words, at - 1)
        and (at + 1 == len(words) or is_preposition(words[at + 1]))
    ]
    return None if len(found) > 1 else (found[0] if found else -1)


def _seen(
    words: Sequence[Word], found: Sequence[int], seen: frozenset[str], counts: Callable[[str, str], bool]
) -> int | None:
    """The only candidate with a form among the words that were seen, or None."""
    of_seen = {lemma for core in seen for lemma in lemmas_of_verb(core) if counts(core, lemma)}
    left = [at for at in found if of_seen.intersection(lemmas_of_verb(words[at].core))]
    return left[0] if len(left) == 1 else None
