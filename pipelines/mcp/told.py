"""Records in words, for a language model: where things stand, with the words of documents marked as such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spanwise.types import Answer, AnswerSpan, Hit, Scope

from ..cli.declined import answer_place, confidence, said_of, searched
from ..cli.filters import left_nothing
from ..cli.search import place
from ..cli.summarize import citation_place
from ..declined import reasons
from ..summarizing.summary import Summary, cited
from .quoted import DATA, in_one_line, quoted

ABSENT = "Not in these documents."


def told_hits(hits: Sequence[Hit], scope: Scope | None = None) -> str:
    """The hits of a search, best first: the place of each, then its words."""
    if not hits:
        return "\n".join(filter(None, ["Nothing was found.", left_nothing(scope)]))
    return "\n\n".join([DATA, *map(told_hit, hits)])


def told_hit(hit: Hit) -> str:
    """A hit: rank, place, number of the passage and offsets, then its words."""
    passage = hit.passage
    where = f"passage {passage.id}, characters {passage.start}-{passage.end}, score {hit.score:.4f}"
    return f"{hit.rank}. {in_one_line(place(passage))} ({where})\n{quoted(passage.text)}"


def told_answer(answer: Answer) -> str:
    """The answer with its place and sentence, or that there is none and what came near."""
    return "\n".join(_answered(answer, answer.best) if answer.best else _declined(answer))


def _answered(answer: Answer, best: AnswerSpan) -> Iterator[str]:
    yield DATA
    yield f"\nAnswer{confidence(best)}:\n{quoted(best.text)}"
    yield f"at {_exact(best)}"
    if best.sentence.text != best.text:
        yield f"in the sentence:\n{quoted(best.sentence.text)}"
    for other in best.agreeing:
        yield f"also said at {_exact(other)}"
    for other in answer.alternatives:
        yield f"\nAnother answer{confidence(other)}:\n{quoted(other.text)}\nat {_exact(other)}"


def _declined(answer: Answer) -> Iterator[str]:
    yield ABSENT
    if nothing := left_nothing(answer.scope):
        yield nothing
        return
    yield searched(answer)
    yield from (in_one_line(said_of(unknown, answer.question)) for unknown in answer.unknown)
    if answer.rejected or answer.nearest:
        yield DATA
    for rejected in answer.rejected:
        why = "; ".join(reasons(rejected, answer.question))
        span = rejected.answer
        yield f"\nNear, but rejected{confidence(span)}:\n{quoted(span.text)}\nat {_exact(span)}"
        yield from [f"because {in_one_line(why)}"] if why else []
    for hit in answer.nearest:
        yield f"passage {hit.passage.id} to look at: {in_one_line(place(hit.passage))}"


def _exact(span: AnswerSpan) -> str:
    return f"{in_one_line(answer_place(span))} (characters {span.span.start}-{span.span.end})"


def told_summary(summary: Summary) -> str:
    """The sentences with the numbers of their citations, and what each number stands for."""
    return "\n".join(_refused(summary) if summary.is_refusal else _summed(summary))


def _summed(summary: Summary) -> Iterator[str]:
    yield DATA
    yield ""
    for sentence in summary.sentences:
        yield quoted(cited(sentence))
        if sentence.findings:
            told = "; ".join(f"{one.words}: {one.reason}" for one in sentence.findings)
            yield f"{sentence.verdict.value}: {in_one_line(told)}"
    yield ""
    for citation in summary.citations:
        where = f"characters {citation.span.start}-{citation.span.end}"
        yield f"[{citation.number}] {in_one_line(citation_place(citation))} ({where})"


def _refused(summary: Summary) -> Iterator[str]:
    yield "Nothing in these documents can be said to that."
    if nothing := left_nothing(summary.scope):
        yield nothing
    for hit in summary.nearest:
        yield f"passage {hit.passage.id} to look at: {in_one_line(place(hit.passage))}"
