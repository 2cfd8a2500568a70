"""Measures by name, as ir_measures spells them: NAME, NAME@k, NAME(rel=n) and NAME(rel=n)@k.

`rel` is the least relevance that counts as relevant, 1 unless told otherwise. Left out of what ir_measures
knows: `judged_only`, other gains and discounts, and the measures that are not in the table here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from .average_precision import average_precision
from .judged_ranking import JudgedRanking
from .ndcg import ndcg
from .order import msmarco_order, trec_order
from .precision import precision
from .recall import recall
from .reciprocal_rank import reciprocal_rank
from .success import success

Order = Callable[[Mapping[str, float]], list[str]]

_SPELLING = re.compile(r"([A-Za-z]+)(?:\(rel=([0-9]{1,9})\))?(?:@([0-9]{1,9}))?")


class _Cutoff(Enum):
    """Whether a measure is told to look at the first k documents alone, and how that is written."""

    NEVER, OPTIONAL, ALWAYS = "", "[@k]", "@k"


@dataclass(frozen=True, slots=True)
class _Formula:
    """A function of a judged ranking and of what of `k` and `rel` it takes."""

    function: Callable[..., float]
    cutoff: _Cutoff
    takes_rel: bool = True


_FORMULAS = {
    "AP": _Formula(average_precision, _Cutoff.OPTIONAL),
    "nDCG": _Formula(ndcg, _Cutoff.OPTIONAL, takes_rel=False),
    "P": _Formula(precision, _Cutoff.ALWAYS),
    "R": _Formula(recall, _Cutoff.ALWAYS),
    "RR": _Formula(reciprocal_rank, _Cutoff.OPTIONAL),
    "Success": _Formula(success, _Cutoff.ALWAYS),
}
_ALIASES = {"map": "AP", "mrr": "RR", "precision": "P", "recall": "R"}
_NAMES = _ALIASES | {name.lower(): name for name in _FORMULAS}


@dataclass(frozen=True, slots=True)
class Measure:
    """A ranking measure with its cutoff `k` (None: the whole ranking) and least relevance `rel`.

    ValueError: no such measure, a cutoff that is missing, below 1 or out of place, and the like of `rel`.
    """

    kind: str
    k: int | None = None
    rel: int = 1

    def __post_init__(self) -> None:
        """Refuse what the measure does not take."""
        if self.kind not in _FORMULAS:
            raise ValueError(f"there is no measure {self.kind!r}; expected one of {available_measures()}")
        formula = _FORMULAS[self.kind]
        if self.k is None and formula.cutoff is _Cutoff.ALWAYS:
            raise ValueError(f"{self.kind} has no cutoff; expected one, such as {self.kind}@10")
        if self.k is not None and formula.cutoff is _Cutoff.NEVER:
            raise ValueError(f"{self.kind} takes no cutoff; found @{self.k}")
        if self.k is not None and self.k < 1:
            raise ValueError(f"the cutoff of {self.kind} is {self.k}; expected at least 1")
        if self.rel != 1 and not formula.takes_rel:
            raise ValueError(f"{self.kind} takes no rel; found rel={self.rel}")
        if self.rel < 1:
            raise ValueError(f"the rel of {self.kind} is {self.rel}; expected at least 1")

    @property
    def name(self) -> str:
        """How ir_measures prints it: `nDCG@10`, `AP(rel=2)`, `P(rel=2)@5`."""
        rel = f"(rel={self.rel})" if self.rel != 1 else ""
        return self.kind + rel + (f"@{self.k}" if self.k is not None else "")

    @property
    def order(self) -> Order:
        """How the documents of a query are put in order for it.

        ir_measures has trec_eval compute all but RR@k and Judged, whose ties it breaks the other way.
        """
        by_ir_measures = self.kind == "Judged" or (self.kind == "RR" and self.k is not None)
        return msmarco_order if by_ir_measures else trec_order

    def __call__(self, found: JudgedRanking) -> float:
        """Its value for one query, 0..1."""
        formula = _FORMULAS[self.kind]
        cutoff = {} if formula.cutoff is _Cutoff.NEVER else {"k": self.k}
        return formula.function(found, **cutoff, **({"rel": self.rel} if formula.takes_rel else {}))


def parse_measure(text: str) -> Measure:
    """The measure of that name, in any case; MAP, MRR, Precision and Recall are other names of four.

    ValueError: there is no such measure, or it is spelled in another way; the message lists what there is.

    >>> parse_measure("MAP(rel=2)@100").name
    'AP(rel=2)@100'
    """
    spelled = _SPELLING.fullmatch(text)
    name = _NAMES.get(spelled[1].lower()) if spelled else None
    if spelled is None or name is None:
        raise ValueError(f"there is no measure {text!r}; expected one of {available_measures()}")
    return Measure(name, int(spelled[3]) if spelled[3] else None, int(spelled[2]) if spelled[2] else 1)


def parse_measures(text: str) -> list[Measure]:
    """The measures that a text names, divided by white space; ValueError as `parse_measure`, or none.

    >>> [measure.name for measure in parse_measures("nDCG@10 R@100 RR")]
    ['nDCG@10', 'R@100', 'RR']
    """
    if not text.split():
        raise ValueError(f"no measure is named; expected some of {available_measures()}")
    return list(dict.fromkeys(map(parse_measure, text.split())))


def available_measures() -> str:
    """All measures with what they take, for people; optional parts stand in brackets.

    >>> available_measures()
    'AP[(rel=n)][@k], nDCG[@k], P[(rel=n)]@k, R[(rel=n)]@k, RR[(rel=n)][@k], \
Success[(rel=n)]@k'
    """
    return ", ".join(
        f"{name}{'[(rel=n)]' if formula.takes_rel else ''}{formula.cutoff.value}"
        for name, formula in _FORMULAS.items()
    )
