"""Results as a person reads them: hits, answers, declined answers, explanations, summaries.

Data goes to stdout, messages and progress to stderr. Control characters of documents are made visible.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

from spanwise.types import Answer, AnswerSpan, FilterResult, Hit, MissingTerm, Passage

from ..visible import visible

if TYPE_CHECKING:
    from spanwise.types import Summary

    from ..explain import DocumentFate, Explanation, ScoreBreakdown, StageRank

LABELS = {
    "files": "reading files",
    "encode": "encoding passages",
    "tokens": "encoding tokens",
    "codebook": "training the codebook",
    "questions": "asking",
    "rerank": "re-ranking",
    "steps": "training",
    "train": "mining negatives",
    "validation": "mining for validation",
    "scores": "asking the teacher",
}
SHOWN_CHARACTERS = 280
SHOWN_PLACES = 3
FIRST_CHARACTERS = 100
MAX_WORD = 20  # characters of a word that is left out rather than broken
ENGLISH = "the built-in models read English; for another language see `spanwise index --model`"


def print_json(record: Any) -> None:
    """Print one JSON value in one line, in UTF-8, keys in the order given."""
    print(json.dumps(record, ensure_ascii=False))


def say(message: str) -> None:
    """Print a message on stderr."""
    print(message, file=sys.stderr)


@contextmanager
def progress(after_s: float = 0.0) -> Iterator[Callable[[str, int, int], None]]:
    """A callback of (task, done, total) that draws a bar on stderr when that is a terminal.

    The bar appears after `after_s` seconds, for tasks that are often done at once.
    """
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    began, bars, tasks = time.monotonic(), list[Any](), dict[str, Any]()
    with ExitStack() as stack:

        def report(stage: str, done: int, total: int) -> None:
            if not bars:
                if time.monotonic() - began < after_s:
                    return
                bars.append(stack.enter_context(_bar()))
            if stage not in tasks:
                tasks[stage] = bars[0].add_task(LABELS.get(stage, stage), total=total, amount="")
            megabytes = f"{done / 1e6:,.1f}/{total / 1e6:,.1f} MB"
            amount = megabytes if stage == "bytes" else f"{done:,}/{total:,}"
            bars[0].update(tasks[stage], completed=done, total=total, amount=amount)

        yield report


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)


def is_styled() -> bool:
    """True when stdout is a terminal, or FORCE_COLOR is set."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def show(*parts: str | tuple[str, str]) -> None:
    """Print a line in parts that are plain or have a style, as in ("Ada Rook", "bold").

    rich, which takes as long to load as a search, is loaded only where a style is seen.
    """
    if not is_styled():
        print(*(part if isinstance(part, str) else part[0] for part in parts), sep="")
        return
    from rich.text import Text

    _console().print(Text.assemble(*parts))


def _console() -> Any:
    from rich.console import Console  # respects NO_COLOR

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def where_in_file(page: int | None, line: int, label: str) -> str:
    """A place in the words of the file's format: its label, else the page, else the line.

    >>> where_in_file(None, 12, "slide 3")
    'slide 3'
    """
    return label or (f"page {page}" if page is not None else f"line {line}")


def place(passage: Passage) -> str:
    """The place of a passage: file, page or line, and heading path.

    >>> place(Passage(1, "a.pdf", 0, 1, "x", page=3, heading=("Mill", "History")))
    'a.pdf, page 3, Mill > History'
    """
    return _place(passage.document_id, where_in_file(passage.page, passage.line, passage.label), passage)


def answer_place(answer: AnswerSpan) -> str:
    """The place of the first character of an answer: file, page or line, heading path."""
    where = where_in_file(answer.page, answer.line, answer.label)
    return _place(answer.span.document_id, where, answer.passage)


def _place(document: str, where: str, passage: Passage) -> str:
    return ", ".join(filter(None, (document, where, " > ".join(passage.heading))))


def near_duplicates(duplicates: Sequence[Passage]) -> str:
    """The number of near-duplicates, and the first of their files.

    >>> near_duplicates([Passage(2, "b.txt", 0, 1, "x"), Passage(3, "b.txt", 9, 10, "x")])
    '(and 2 near-duplicates: b.txt)'
    """
    files = list(dict.fromkeys(passage.document_id for passage in duplicates))
    named = ", ".join([*files[:SHOWN_PLACES], *(["…"] if len(files) > SHOWN_PLACES else [])])
    return f"(and {len(duplicates)} near-duplicate{'s' if len(duplicates) > 1 else ''}: {named})"


def empty_filter(scope: FilterResult | None) -> str:
    """The message for a filter that matches no document, else "".

    >>> from spanwise.types import Filter
    >>> empty_filter(FilterResult(Filter(), documents=0, of_documents=41, passages=0))
    'the filter matches 0 of 41 documents'
    """
    if scope is None or scope.documents:
        return ""
    return f"the filter matches 0 of {scope.of_documents} documents"


def show_hits(hits: Sequence[Hit]) -> None:
    """Print hits: rank and score, place, words, near-duplicates."""
    if not hits:
        print("nothing found")
        return
    rank_width, score_width = len(str(hits[-1].rank)), max(len(f"{hit.score:.4f}") for hit in hits)
    indent = " " * (rank_width + score_width + 4)
    for hit in hits:
        words = _one_line(hit.passage.text)
        if len(words) > SHOWN_CHARACTERS:
            words = words[:SHOWN_CHARACTERS].rstrip() + " …"
        score = f"{hit.score:.4f}".rjust(score_width)
        show(f"{hit.rank:>{rank_width}}  ", (score, "dim"), "  ", (visible(place(hit.passage)), "bold"))
        show(indent, visible(words))
        if hit.duplicates:
            show(indent, (visible(near_duplicates(hit.duplicates)), "dim"))


def show_answer(answer: Answer) -> None:
    """Print an answer: the words, their sentence, their place; or that the question is declined."""
    if answer.best is None:
        show(("not in these documents", "bold"))
        if nothing := empty_filter(answer.scope):
            show(f"  {nothing}")
        else:
            _show_declined(answer)
    else:
        _show_best(answer.best)
        if answer.alternatives:
            show(("\nother answers", "dim"))
        for other in answer.alternatives:
            more = f", and {len(other.also_in)} more" if other.also_in else ""
            words = visible(_one_line(other.text))
            show(f"  {words}{_confidence(other)}  ", (visible(place(other.passage) + more), "dim"))
    stages = ", ".join(f"{stage} {value:.0f} ms" for stage, value in answer.timings_ms.items())
    scope, read = answer.scope, answer.passages_read
    confined = f" in {scope.documents} of {scope.of_documents} documents" if scope else ""
    unread = f", best {read} of {read + answer.passages_unread} read" if answer.passages_unread else ""
    cached = "cached answer, " if answer.cached else ""
    searched = f"{answer.passages_searched} passages{confined}, {answer.retriever}{unread}"
    show((f"\n{searched}; {cached}{stages}", "dim"))


def _show_best(best: AnswerSpan) -> None:
    words, sentence, short = (visible(span.text) for span in (best.span, best.context, best.answer))
    before, found, after = words.partition(short)
    show((before, "bold"), (found, "bold green"), (after, "bold"))
    if sentence != words:
        before, found, after = sentence.partition(words)
        show("  “", before, (found, "bold green"), after, "”")
    show((f"  {visible(answer_place(best))}  (score {best.score:.2f}{_confidence(best)})", "dim"))
    if best.also_in:
        show((f"  {visible(also_in(best.also_in))}", "dim"))
    if best.duplicates:
        show((f"  {visible(near_duplicates(best.duplicates))}", "dim"))


def also_in(agreeing: Sequence[AnswerSpan]) -> str:
    """The first places with the same answer, and the number of others."""
    more = f", and {len(agreeing) - SHOWN_PLACES} more" if len(agreeing) > SHOWN_PLACES else ""
    return f"also in {'; '.join(map(answer_place, agreeing[:SHOWN_PLACES]))}{more}"


def _show_declined(answer: Answer) -> None:
    """Print why a question is declined: the search, missing words, rejected spans, nearest passages."""
    from ..declined import reasons

    passages, documents = f"{answer.passages_searched:,} passages", f"{answer.documents_searched:,} documents"
    show(f"  searched: {passages} of {documents}; the best {answer.passages_read} were read")
    for unknown in answer.missing_terms:
        show(f"  {visible(unknown_word(unknown, answer.question))}")
    for number, rejected in enumerate(answer.rejected):
        label = "also rejected" if number else "nearest, but rejected"
        words = visible(_one_line(rejected.answer.text))
        show(f"  {label}{_confidence(rejected.answer)}: {words}")
        show((f"    {visible(answer_place(rejected.answer))}", "dim"))
        if why := "; ".join(reasons(rejected, answer.question)):
            show((f"    {visible(why)}", "dim"))
    if answer.nearest:
        show_nearest(answer.nearest)
    else:
        show("  no passage was found to read")
    show((f"  {ENGLISH}", "dim"))


def unknown_word(unknown: MissingTerm, question: str) -> str:
    """The message about a word of the question that no document has, with a similar one."""
    message = f'"{unknown.term.of(question)}" does not occur in the documents'
    if unknown.nearest is None:
        return message
    return f'{message}; did you mean "{unknown.nearest.text}" ({unknown.nearest.document_id})?'


def show_nearest(hits: Sequence[Hit]) -> None:
    """Print the passages nearest to a declined question: place and first words."""
    show("  nearest passages:")
    for hit in hits:
        show((f"    {visible(place(hit.passage))}", "dim"))
        show(f"      {visible(first_words(hit.passage))}")


def first_words(passage: Passage) -> str:
    """The beginning of a passage in one line, without headings that its place names already.

    >>> first_words(Passage(1, "a.md", 0, 25, "## The mill\\n\\nIt grinds rye.", heading=("The mill",)))
    'It grinds rye.'
    """
    lines = passage.text.splitlines()
    below = list(dropwhile(lambda line: line.strip(" #") in ("", *passage.heading), lines))
    words = _one_line(" ".join(below or lines))
    if len(words) <= FIRST_CHARACTERS:
        return words
    end = words.rfind(" ", FIRST_CHARACTERS - MAX_WORD, FIRST_CHARACTERS + 1)
    return (words[:end] if end > 0 else words[:FIRST_CHARACTERS]) + " …"


def show_explanation(explanation: Explanation) -> None:
    """Print the answer, its evidence by feature, ranks by stage, and the fate of a document."""
    show_answer(explanation.answer)
    best = explanation.best
    if best is None:
        show("\nno span was read, so there is nothing to explain")
    else:
        what = "answer" if explanation.answer.best else "nearest span"
        show((f"\nthe {what} in {visible(place(best.passage))}; evidence: value x weight", "dim"))
        _show_evidence(best)
        if explanation.formula is not None:
            show((f"    {explanation.formula}", "dim"))
        show((f"\nrank of the passage among the hits: {explanation.rank}; by stage", "dim"))
        _show_ranks(explanation.ranks)
        for stage, score in explanation.scores:
            if stage not in {rank.stage for rank in explanation.ranks}:
                show(f"  {stage}: score {score:.4f}")
    if explanation.document is not None:
        _show_fate(explanation.document)


def _show_fate(fate: DocumentFate) -> None:
    show((f"\n{visible(fate.document)}: {fate.stage}", "bold"))
    for line in filter(None, (fate.reason, fate.advice)):
        show(f"  {visible(line)}")
    _show_ranks(fate.ranks)
    if fate.best is not None:
        _show_evidence(fate.best)


def _show_ranks(ranks: Sequence[StageRank]) -> None:
    for rank in ranks:
        found = "not found" if rank.rank is None else f"{rank.rank} of {rank.depth}"
        show(f"  {rank.stage}: {found}{'' if rank.score is None else f', score {rank.score:.4f}'}")


def _show_evidence(found: ScoreBreakdown) -> None:
    """Print a span, its place, a line a feature (value, weight, contribution), and the sum."""
    width = max(len(one.feature) for one in found.contributions)
    sure = "" if found.confidence is None else f", confidence {found.confidence:.0%}"
    show(f"  {visible(_one_line(found.span.text))}")
    show(f"    {visible(place(found.passage))}")
    for one in found.contributions:
        numbers = f"{one.value:8.3f} x {one.weight:7.3f} = {one.contribution:8.3f}"
        show(f"    {one.feature:{width}}  {numbers}")
    show(f"    {'evidence':{width}}  {found.evidence:28.3f}{sure}")


def show_summary(summary: Summary) -> None:
    """Print a summary: its sentences, their places, and the number of those dropped."""
    for sentence in summary.sentences:
        show(visible(sentence.cited))
        if sentence.findings:
            found = "; ".join(f"{one.words}: {one.reason}" for one in sentence.findings)
            show((f"  {sentence.verdict.value}: {visible(found)}", "bold"))
    if summary.is_refusal:
        show(("not in these documents", "bold"))
        if nothing := empty_filter(summary.scope):
            show(f"  {nothing}")
        elif summary.nearest:
            show_nearest(summary.nearest)
    elif summary.citations:
        show("")
    for one in summary.citations:
        where = where_in_file(one.page, one.line, one.label)
        show((f"[{one.number}] {visible(_place(one.span.document_id, where, one.passage))}", "dim"))
    if summary.dropped:
        show((f"\nunsupported sentences dropped: {len(summary.dropped)}", "dim"))
    left = f", {summary.left_out} more did not fit into the prompt" if summary.left_out else ""
    by = f", {summary.retriever}" if summary.retriever else ""
    stages = ", ".join(f"{stage} {value:.0f} ms" for stage, value in summary.timings_ms.items())
    passages = "1 passage" if summary.passages == 1 else f"{summary.passages:,} passages"
    show((f"\n{passages}{left}, {visible(summary.generator)}{by}; {stages}", "dim"))


def _confidence(answer: AnswerSpan) -> str:
    return "" if answer.confidence is None else f", confidence {answer.confidence:.0%}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
