"""How a text is decoded: one method with its numbers, and named presets of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_type_hints

from .repetition import PenaltyForm

Method = Literal["greedy", "beam", "sample", "contrastive"]


@dataclass(frozen=True, slots=True)
class Decoding:
    """A method and the numbers that it uses; those that it does not use are ignored.

    temperature, top_k, top_p    of `sample`; a temperature of 0 is greedy, a top_k of 0 keeps all
    beams, length_exponent       of `beam`: finished texts compare by ln P / tokens ** exponent
    degeneration, candidates     of `contrastive`: the weight of likeness to what was written, and how many
                                 tokens are compared; `top_p` leaves out candidates beyond the nucleus
    repetition_penalty, its form of all methods, see `penalised`
    blocked_ngrams               of all: no n-gram of so many tokens is written twice; 0: none is blocked
    seed                         of `sample`: the same seed, the same text
    """

    method: Method = "greedy"
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    beams: int = 4
    length_exponent: float = 0.6
    degeneration: float = 0.6
    candidates: int = 5
    repetition_penalty: float = 1.0
    penalty_form: PenaltyForm = "probability"
    blocked_ngrams: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError for a number that its method cannot use."""
        limits = {
            "temperature": self.temperature >= 0,
            "top_k": self.top_k >= 0,
            "top_p": 0 < self.top_p <= 1,
            "beams": self.beams >= 1,
            "length_exponent": self.length_exponent >= 0,
            "degeneration": 0 <= self.degeneration <= 1,
            "candidates": self.candidates >= 1,
            "repetition_penalty": self.repetition_penalty > 0,
            "blocked_ngrams": self.blocked_ngrams >= 0,
        }
        for name, holds in limits.items():
            if not holds:
                raise ValueError(f"{name} is {getattr(self, name)}, which decoding cannot use")


_KINDS: Mapping[str, type[int] | type[float] | tuple[str, ...]] = {
    name: get_args(kind) or kind for name, kind in get_type_hints(Decoding).items()
}

PRESETS: Mapping[str, Decoding] = {
    "factual": Decoding(),
    "summary": Decoding("beam", beams=4, length_exponent=0.6, blocked_ngrams=3),
    "summary-sampled": Decoding("sample", temperature=0.3, top_p=0.9, repetition_penalty=1.1),
    "summary-strict": Decoding(),
    "long": Decoding("contrastive", degeneration=0.6, candidates=5, top_p=0.9),
    "general": Decoding("sample", temperature=0.7, top_p=0.9),
}


def preset(name: str, **given: Any) -> Decoding:
    """The preset of that name with what was given in its place; ValueError for an unknown name or number."""
    if name not in PRESETS:
        raise ValueError(f"{name!r} is no preset of decoding; there are {', '.join(PRESETS)}")
    return replace(PRESETS[name], **given)


def given_decoding(name: str, given: Sequence[str]) -> Decoding:
    """A preset with what is given as "temperature=0.5" in its place; a later value replaces an earlier one.

    ValueError: an unknown preset or name, a value that is no number (of `method` and `penalty_form`: none of
    theirs), or one that decoding cannot use.
    """
    values: dict[str, Any] = {}
    for text in given:
        field, equals, value = text.partition("=")
        if not equals or field not in _KINDS:
            raise ValueError(f"{text!r} is no NAME=VALUE of decoding; there are {', '.join(_KINDS)}")
        values[field] = _value(field, value)
    return preset(name, **values)


def _value(field: str, text: str) -> str | int | float:
    kind = _KINDS[field]
    if isinstance(kind, tuple):
        if text not in kind:
            raise ValueError(f"{field} is one of {', '.join(kind)}, not {text!r}")
        return text
    try:
        number = kind(text)
    except ValueError:
        raise ValueError(
            f"{field} is a number{' without a fraction' * (kind is int)}, not {text!r}"
        ) from None
    if not math.isfinite(number):
        raise ValueError(f"{field} is {text}, which decoding cannot use")
    return number
