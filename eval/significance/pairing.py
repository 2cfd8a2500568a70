"""Two systems side by side: which questions can be compared, and which were asked of one of them only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was put: its text, and what counted as an answer; None where that is not known."""

    text: str | None = None
    golds: frozenset[str] | None = None

    def differs(self, other: Asked) -> bool:
        """True when the two are known to be different questions, though their id is one."""
        pairs = ((self.text, other.text), (self.golds, other.golds))
        return any(None not in pair and pair[0] != pair[1] for pair in pairs)


@dataclass(frozen=True, slots=True)
class Scored:
    """What one system scored: by the name of the measure, then by question id; higher is better.

    A measure need not have a score of every question. `questions` has every question that was asked.
    """

    system: str
    scores: Mapping[str, Mapping[str, float]]
    questions: Mapping[str, Asked]


@dataclass(frozen=True, slots=True)
class Pair:
    """A baseline and a system, and the ids of the questions by what can be done with them, each sorted.

    `common` are compared. `changed` have one id and two texts or two sets of golds: they are left out, since
    their scores do not answer the same question.
    """

    baseline: Scored
    system: Scored
    common: tuple[str, ...]
    changed: tuple[str, ...]
    only_baseline: tuple[str, ...]
    only_system: tuple[str, ...]

    def text(self, question_id: str) -> str:
        """The text of a common question, "" when neither side knows it."""
        return self.system.questions[question_id].text or self.baseline.questions[question_id].text or ""


def pair(baseline: Scored, system: Scored) -> Pair:
    """The two side by side.

    >>> pair(Scored("a", {}, {"q1": Asked("Who?")}), Scored("b", {}, {"q1": Asked("Whom?")})).changed
    ('q1',)
    """
    before, after = baseline.questions, system.questions
    both = sorted(before.keys() & after.keys())
    changed = [qid for qid in both if before[qid].differs(after[qid])]
    return Pair(
        baseline,
        system,
        tuple(sorted(set(both).difference(changed))),
        tuple(changed),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(after.keys() - before.keys())),
    )
