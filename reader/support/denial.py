"""What a text denies: the words in reach of a negation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

REACH = 3  # content words behind a negation that it denies
_CUES = re.compile(
    r"\b(?:not(?! only\b)|never|no|none|nobody|nothing|neither|nor|without|cannot|hardly|barely|rarely|"
    r"seldom|unable|fails?|failed|lacks?|lacked|refused?|refuses|denied|denies|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:!?,()]|\b(?:but|although|though|while|whereas|because)\b", re.IGNORECASE)


def denied(text: str, terms: Callable[[str], Sequence[str]]) -> frozenset[str]:
    """The terms of the first REACH content words behind each negation, up to the end of its clause.

    `terms` gives the content terms of a text in order. What the text also says without denying it is left
    out, and so is "not only", which affirms.

    >>> sorted(denied("The mill did not burn, it sank.", str.split))
    ['burn']
    """
    found: Counter[str] = Counter()
    for cue in _CUES.finditer(text):
        end = _CLAUSE_END.search(text, cue.end())
        found.update(list(terms(text[cue.end() : end.start() if end else len(text)]))[:REACH])
    said = Counter(terms(text)) if found else Counter()
    return frozenset(term for term, times in found.items() if said[term] <= times)


def denies(text: str) -> str:
    """The first negation of a text, or the empty string."""
    cue = _CUES.search(text)
    return cue[0] if cue else ""


def contradicts(claim: str, evidence: str, terms: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
    """The terms that one of two texts denies and the other affirms, sorted.

    None when both deny something in common: then they agree in it, whatever else is in reach.
    """
    of_claim, of_evidence = set(terms(claim)), set(terms(evidence))
    denied_here, denied_there = denied(claim, terms), denied(evidence, terms)
    if denied_here & denied_there:
        return ()
    return tuple(sorted((denied_here & of_evidence) | (denied_there & of_claim)))
