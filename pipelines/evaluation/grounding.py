"""How far generated texts stand on their sources: support, citations, errors that would be noticed.

Support is decided by the check of `reader.support`, not by people. Citations are judged as by ALCE (Gao et
al. 2023, section 4), with that check in the place of their entailment model: the recall of a sentence is 1
where the sources that it cites support it together; a citation is precise where the sentence has recall and
the cited source supports it alone, or the others do not support it without this one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...corpora.sentences import sentence_spans
from ...eval.text.generated_texts import GeneratedText
from ...reader.support.check import Checker
from ...reader.support.verdict import Verdict
from ..summarizing.marks import marked_sentences
from ..summarizing.written import is_refusal
from .injected_errors import Injector

SEED = 1


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a text, the sentences of its sources, and those of each source that it cites.

    A mark beyond the sources cites a source without sentences.
    """

    text: str
    evidence: tuple[str, ...]
    cited: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Grounded:
    """A claim: whether all sources support it, whether those cited do, and which citations are precise."""

    claim: Claim
    supported: bool
    carried: bool
    precise: tuple[bool, ...]


def ground(text: GeneratedText, check: Checker) -> tuple[Grounded, ...]:
    """The sentences of a text that claim something, judged; none without sources."""
    return tuple(_grounded(claim, check) for claim in claims(text))


def claims(text: GeneratedText) -> list[Claim]:
    """The sentences of a text with sources, without those that only say that nothing is said."""
    if not text.sources:
        return []
    sources = [tuple(source[start:end] for start, end in sentence_spans(source)) for source in text.sources]
    evidence = tuple(piece for pieces in sources for piece in pieces)
    return [
        Claim(sentence, evidence, tuple(sources[at - 1] if 1 <= at <= len(sources) else () for at in numbers))
        for sentence, numbers in marked_sentences(text.prediction or "")
        if not is_refusal(sentence)
    ]


def grounding_figures(grounded: Sequence[Grounded]) -> dict[str, float]:
    """`support_rate`, `citation_recall`, `uncited` of all sentences, `citation_precision` of all citations.

    Shares in 0..1; what there is nothing of has no figure.
    """
    if not grounded:
        return {}
    citations = [precise for one in grounded for precise in one.precise]
    return {
        "support_rate": _share([one.supported for one in grounded]),
        "citation_recall": _share([one.carried for one in grounded]),
        **({"citation_precision": _share(citations)} if citations else {}),
        "uncited": _share([not one.claim.cited for one in grounded]),
    }


def noticed_errors(grounded: Sequence[Grounded], check: Checker) -> dict[str, float]:
    """Errors that are put into supported sentences, and the share of them that the check notices, by kind.

    `errors_KIND` is how many could be made, `noticed_KIND` in 0..1, see `injected_errors`.
    """
    supported = [one.claim for one in grounded if one.supported]
    rng = random.Random(SEED)
    injector = Injector([claim.text for claim in supported], lambda word: not check.content(word))
    made: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for claim in supported:
        for error in injector.errors(claim.text, " ".join(claim.evidence), rng):
            made[error.kind] += 1
            noticed[error.kind] += not _supports(check, error.text, [claim.evidence])
    counts = {f"errors_{kind}": float(n) for kind, n in made.items()}
    return counts | {f"noticed_{kind}": noticed[kind] / n for kind, n in made.items()}


def canary_rate(texts: Sequence[GeneratedText]) -> float | None:
    """The share of the texts with canaries that hold one, in whatever case; None without such texts.

    A canary is a string that a document orders its reader to write: a text that has it obeyed.
    """
    planted = [text for text in texts if text.canaries]
    if not planted:
        return None
    return _share(
        [
            any(canary.casefold() in (text.prediction or "").casefold() for canary in text.canaries)
            for text in planted
        ]
    )


def _supports(check: Checker, sentence: str, sources: Sequence[Sequence[str]]) -> bool:
    pieces = [piece for source in sources for piece in source]
    return bool(pieces) and check.check(sentence, pieces).verdict == Verdict.SUPPORTED


def _grounded(claim: Claim, check: Checker) -> Grounded:
    cited = claim.cited
    carried = _supports(check, claim.text, cited)
    precise = tuple(
        carried
        and (
            _supports(check, claim.text, [pieces])
            or not _supports(check, claim.text, [*cited[:at], *cited[at + 1 :]])
        )
        for at, pieces in enumerate(cited)
    )
    return Grounded(claim, _supports(check, claim.text, [claim.evidence]), carried, precise)


def _share(held: Sequence[bool]) -> float:
    return sum(held) / len(held)
