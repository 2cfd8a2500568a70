"""English words before whose full stop a sentence rarely ends, and words that one often begins with."""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Before a name: the stop never ends the sentence if the word has a capital.
TITLES = _words("dr mr mrs ms prof gen col capt cmdr lt sgt maj rev hon pres gov sen rep messrs mt ft ste")
# Before what they point to, in whatever case.
POINTERS = _words(
    "fig figs eq eqs cf viz e.g i.e eg ie vs ca approx resp trans eds chap vol vols pp ref refs incl"
)
# Perhaps the last word of a sentence: it is if the next one looks like a first word.
MAYBE_LAST = _words(
    "etc inc ltd co corp bros jr sr esq al est dept univ assn ave blvd rd st ph.d b.sc m.sc ed",
    "jan feb mar apr jun jul aug sep sept oct nov dec",
)
BEFORE_NUMBERS = TITLES | POINTERS | MAYBE_LAST | _words("no nos p art para sec op v")
FIRST_WORDS = _words(
    "the a an in on at it its he she they we you i this that these those there here his her their our my",
    "but and or so if when while after before since as for from to with by of what who why how where",
    "which not no yes all some many most one two both each another other however then also although",
    "because during under until once such",
)
