"""Judging a folder of one's own: are its questions answered right, and the absent ones declined?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanwise.types import Answer, AnswerSpan

from ...eval.abstention import Verdict, judge
from ...eval.question_set import FolderQuestion
from ..library import DEFAULT_RETRIEVER, Library
from ..progress import Report, silent

QUESTIONS_AT_ONCE = 8
TOP = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """One question, what was answered, the verdict on it, and whether one of the first three was right."""

    question: FolderQuestion
    answer: Answer
    verdict: Verdict
    right_top3: bool


def evaluate_folder(
    library: Library,
    questions: Sequence[FolderQuestion],
    retriever: str = DEFAULT_RETRIEVER,
    reader: str = "builtin",
    k: int = 20,
    threshold: float | None = None,
    report: Report = silent,
    group: bool = True,
) -> list[Judged]:
    """The verdict on every question, in order; see `eval.abstention` for what counts as right."""
    asker = library.asker(retriever, reader, group=group)
    judged: list[Judged] = []
    for at in range(0, len(questions), QUESTIONS_AT_ONCE):
        batch = questions[at : at + QUESTIONS_AT_ONCE]
        answers = asker.ask([q.question for q in batch], k, alternatives=TOP - 1, threshold=threshold)
        judged += [_judged(q, answer) for q, answer in zip(batch, answers, strict=True)]
        report("questions", len(judged), len(questions))
    return judged


def summary(judged: Sequence[Judged]) -> dict[str, object]:
    """The figures that `eval folder` prints, without the records."""
    verdicts = Counter(one.verdict for one in judged)
    by_type: Mapping[str, Counter[str]] = defaultdict(Counter)
    for one in judged:
        by_type[one.question.type if one.question.answerable else "absent"][one.verdict.value] += 1
    return {
        "questions": len(judged),
        "right_top1": verdicts[Verdict.RIGHT],
        "right_top3": sum(one.right_top3 for one in judged),
        "false_answers": verdicts[Verdict.FALSE_ANSWER],
        "wrongly_declined": verdicts[Verdict.WRONGLY_DECLINED],
        "rightly_declined": verdicts[Verdict.RIGHTLY_DECLINED],
        "by_type": {kind: dict(sorted(counts.items())) for kind, counts in sorted(by_type.items())},
    }


def _judged(question: FolderQuestion, answer: Answer) -> Judged:
    shown: list[AnswerSpan] = [] if answer.best is None else [answer.best, *answer.alternatives]
    right = any(judge(question, one) is Verdict.RIGHT for one in shown[:TOP])
    return Judged(question, answer, judge(question, answer.best), right)
