"""Writes formulas of Office documents and MathML on one line, such as "√(a+b)/2", "x_max" and "1 1/2".

Parentheses group what a fraction, a root or a power holds, where it is more than a number or a name. Accents
are left out.
"""

import re

from ..archive import Element, local_name, setting
from .builder import NOTE, lowered, raised

# The forms of elements, with their parts in order: in a group (g), raised (^) or lowered (_).
FORMS = {
    "f mfrac": NOTE + "{0:g}/{1:g}",
    "rad": "{0:^}√{1:g}",
    "msqrt": "√{0:g}",
    "mroot": "{1:^}√{0:g}",
    "sSup msup": "{0:g}{1:^}",
    "sSub msub": "{0:g}{1:_}",
    "sSubSup msubsup munderover": "{0:g}{1:_}{2:^}",
    "nary": "{sign}{0:_}{1:^} {2:g}",
    "d": "{before}{0}{after}",
}
BY_NAME = {name: form for names, form in FORMS.items() for name in names.split()}
BETWEEN = {"func": " ", "mr": ", ", "mtr": ", ", "m": "; ", "eqArr": "; ", "mtable": "; "}
ATOM = re.compile(rf"\s*(?:[\w.,′%°]*|{NOTE}?.|[(\[|][^()\[\]|]*[)\]|])\s*")
LEFT_OUT = re.compile(r"|\w+Pr|del|moveFrom|annotation.*|mphantom")
INVISIBLE = "\u2061\u2062\u2063\t\r\n"  # operators of MathML, and line ends


class Part(str):
    """The text of a part of a formula."""

    def __format__(self, form: str) -> str:
        """The part in a form of `FORMS`."""
        change = {"^": raised, "_": lowered}.get(form, str)
        shifted = change(self)
        if not form or shifted != self or not self.strip("′"):
            return shifted
        return form.strip("g") + (self if ATOM.fullmatch(self) else f"({self})")


def formula(element: Element) -> str:
    """The text of an element of OMML or MathML, for `settle`."""
    name = local_name(element)
    if not len(element):
        return (element.text or "").strip(INVISIBLE)
    parts = [Part(formula(child)) for child in element if not LEFT_OUT.fullmatch(local_name(child))]
    form = BY_NAME.get(name, "{}")
    if "{1" not in form:  # a row
        parts = [Part(BETWEEN.get(name, "").join(parts))]
    return form.format(
        *parts,
        *[Part()] * 3,
        sign=setting(element, "naryPr/chr", "", "∫"),
        before=setting(element, "dPr/begChr", "", "("),
        after=setting(element, "dPr/endChr", "", ")"),
    )
