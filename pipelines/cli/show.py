"""Results as a person reads them: hits, answers, declined answers, explanations, summaries.

Data goes to stdout, messages and progress to stderr. Control characters of documents are made visible.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, dropwhile
from threading import Timer
from typing import TYPE_CHECKING, Any

from spanwise.types import (
    Answer,
    AnswerSpan,
    Citation,
    Computed,
    FilterResult,
    Hit,
    Passage,
    ProgressCallback,
    Spelling,
    Summary,
    TablePart,
)

from ..parsing.pool import default_workers
from ..plain_text import (
    asked,
    computed_from,
    display,
    language_hint,
    one_line,
    overview_lines,
    reading_note,
    refusal,
    shown,
    shown_sentence,
    step_lines,
    unread_note,
    visible,
    written_text,
)

if TYPE_CHECKING:
    from ..answering.explain import DocumentFate, Explanation, ScoreBreakdown, StageRank

RATED = ("encode", "tokens")  # tasks whose bar shows a speed
SCANS = "scans"
SECONDS_PER_SCAN = 4.0  # of a page and a core, before any is read
LABELS = {
    "models": "loading models",
    "passages": "reading passages",
    "write": "reading and writing",
    "files": "reading files",
    SCANS: "recognising pages",
    "encode": "encoding passages",
    "tokens": "encoding tokens",
    "codebook": "training the codebook",
    "questions": "asking",
    "rerank": "re-ranking",
    "steps": "training",
    "downloads": "downloading",
    "labels": "asking the teacher",
    "train": "mining negatives",
    "validation": "mining for validation",
    "scores": "asking the teacher",
}
LINE_EVERY_S = 30.0  # of progress where stderr is no terminal
MAX_QUOTE = 280  # characters
MAX_LINE = 78
MAX_PLACES = 3
MAX_FIRST_WORDS = 70  # characters
EXPLAIN = "see why with: --explain"
LISTING = "spanwise status"
MAX_WORD = 20  # characters; a longer word may be cut


def print_json(record: Any) -> None:
    """Print one JSON value in one line, in UTF-8, keys in their order."""
    print(json.dumps(record, ensure_ascii=False))


def say(message: str) -> None:
    """Print a message on stderr."""
    print(visible(message), file=sys.stderr)


def write(lines: str) -> None:
    """Print plain lines on stdout."""
    print(visible(lines))


@contextmanager
def progress(after_s: float = 0.0) -> Iterator[ProgressCallback]:
    """A callback of (task, done, total) that draws a bar on stderr, or prints lines if that is no terminal.

    The bar appears after `after_s` seconds, because some tasks are often done at once. A task with total 0
    shows no amount and is hidden when the next one begins. The task "" removes the bar.
    """
    if not sys.stderr.isatty():
        yield _print_at_times(time.monotonic())
        return
    bar = _bar()
    tasks: dict[str, Any] = {}
    timer = Timer(after_s, bar.start)

    def report(task: str, done: int, total: int) -> None:
        if task not in tasks:
            for other in bar.tasks:
                bar.update(other.id, visible=other.total is not None)
            tasks[task] = bar.add_task(LABELS.get(task, task), total=total or None, amount="")
        megabytes = f"{done / 1e6:,.1f}/{total / 1e6:,.1f} MB"
        amount = megabytes if task == "bytes" else f"{done:,}/{total:,}" if total else ""
        if task == SCANS and not done:
            _say_estimate(total)
        speed = bar.tasks[tasks[task]].speed or 0.0
        if speed and task in (*RATED, SCANS):
            amount += f", {60 * speed:,.0f} a minute" if task == SCANS else f", {speed:,.0f} per second"
        bar.update(tasks[task], completed=done, total=total or None, amount=amount)

    def stop() -> None:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()

    timer.start()
    try:
        yield lambda task, done, total: report(task, done, total) if task else stop()
    finally:
        stop()


def _say_estimate(n_pages: int) -> None:
    minutes = n_pages * SECONDS_PER_SCAN / default_workers() / 60
    say(f"pages to recognise: {n_pages:,}, about {max(1, round(minutes)):,} min; what is done stays done")


def _print_at_times(last: float) -> ProgressCallback:
    """A callback of `progress` that prints a line every LINE_EVERY_S seconds after `last`."""
    began = last

    def report(task: str, done: int, total: int) -> None:
        nonlocal began, last
        if task == SCANS and not done:
            _say_estimate(total)
            began = time.monotonic()
        if total and task != "bytes" and time.monotonic() - last >= LINE_EVERY_S:
            last = time.monotonic()
            label, unit = ("indexing", " files") if task == "files" else (LABELS.get(task, task), "")
            rate = 60 * done / (last - began) if task == SCANS and last > began else 0.0
            say(f"{label}: {done:,} of {total:,}{unit}{f', {rate:,.0f} a minute' if rate else ''}")

    return report


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table with aligned columns, however narrow the terminal is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells])


def show(*parts: str | tuple[str, str]) -> None:
    """Print a line whose parts are plain or have a style, as in ("Ada Rook", "bold").

    rich takes as long to load as a search, so it is loaded only if styles are visible.
    """
    is_terminal = sys.stdout.isatty()
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    styled = [(visible(text), style) for text, style in pairs]
    if not (is_terminal or os.environ.get("FORCE_COLOR")):
        print("".join(text for text, _ in styled))
        return
    from rich.console import Console  # respects NO_COLOR
    from rich.text import Text

    Console(highlight=False, soft_wrap=not is_terminal).print(Text.assemble(*styled))


def _show_dim(line: str) -> None:
    show((line, "dim"))


def place(item: Passage | AnswerSpan | Citation) -> str:
    """Where an item begins: its file, its label, page or line, and the headings above it.

    >>> place(Passage(1, "a.pdf", 0, 1, "x", page=3, heading=("Mill", "History")))
    'a.pdf, page 3, Mill > History'
    """
    passage = item if isinstance(item, Passage) else item.passage
    where = item.label or (f"line {item.line}" if item.page is None else f"page {item.page}")
    return one_line(", ".join(filter(None, (passage.document_id, where, " > ".join(item.heading)))))


def near_duplicates(duplicates: Sequence[Passage]) -> str:
    """The number of near-duplicates, and their first files.

    >>> near_duplicates([Passage(2, "b.txt", 0, 1, "x"), Passage(3, "b.txt", 9, 10, "x")])
    '(and 2 near-duplicates: b.txt)'
    """
    files = list(dict.fromkeys(passage.document_id for passage in duplicates))
    named = one_line(", ".join(files[:MAX_PLACES])) + (", …" if len(files) > MAX_PLACES else "")
    return f"(and {len(duplicates)} near-duplicate{'s' if len(duplicates) > 1 else ''}: {named})"


def say_spelling(result: Answer | Summary | Spelling) -> None:
    """Say on stderr how a question was understood, and which words were corrected."""
    if result.understood:
        say(f"understood as: {visible(result.understood)}")
    for searched in result.searched_for:
        say(f'searched for "{searched.word}" instead of "{searched.term.of(asked(result))}"')


def empty_filter(scope: FilterResult | None) -> str:
    """The message for a filter that matches no document, else ""."""
    if scope is None or scope.documents:
        return ""
    instead = f"; did you mean {shlex.quote(scope.nearest_path)}?" if scope.nearest_path else ""
    return f"the filter matches 0 of {scope.of_documents} documents{instead}"


def say_partial(partial: str) -> None:
    """Say on stderr which part of the index was searched, if not all of it."""
    if partial:
        say(f"partial: {partial}")


def show_hits(hits: Sequence[Hit]) -> None:
    """Print hits: rank and score, place, words, near-duplicates."""
    if not hits:
        write("nothing found")
        return
    rank_width = len(str(hits[-1].rank))
    score_width = max(len(f"{hit.score:.4f}") for hit in hits)
    indent = " " * (rank_width + score_width + 4)
    for hit in hits:
        score = f"{hit.score:.4f}".rjust(score_width)
        show(f"{hit.rank:>{rank_width}}  ", (score, "dim"), "  ", (place(hit.passage), "bold"))
        show(indent, _cut(shown(hit.passage)))
        if hit.duplicates:
            show(indent, (near_duplicates(hit.duplicates), "dim"))


def show_answer(answer: Answer, verbose: bool = False, hint: str = EXPLAIN, listing: str = LISTING) -> None:
    """Print the words of an answer, their sentence and place; or that the question is declined."""
    say_spelling(answer)
    say_partial(answer.left_out)
    if answer.failure:
        say(answer.failure)
    if answer.written:
        _show_written(answer)
    elif answer.computed is not None:
        _show_computed(answer.computed)
    elif answer.best is None:
        _show_declined(answer, hint)
        if note := unread_note(answer):
            _show_dim(f"  {note}: {listing} --rejected")
    else:
        _show_best(answer.best, answer.table)
        for line in step_lines(answer.steps):
            show("  ", _cut(line))
        for part in answer.parts[1:]:
            _show_other(part, "and ")
        for other in answer.otherwise:
            _show_other(other, f"otherwise {f'({other.date}) ' * bool(other.date)}")
        others = list(_others(answer.parts or [answer.best], answer.alternatives))
        if others:
            _show_dim("\nother answers")
        for other in others:
            _show_other(other)
    if answer.note:
        _show_dim(f"  {answer.note}")
    if answer.model:
        _show_dim(f"  {reading_note(answer)}")
    if verbose:
        read = f"{answer.passages_read} of {answer.passages_read + answer.passages_unread} read"
        searched = f"{answer.passages_searched:,} passages of {answer.documents_searched:,} documents"
        times = ", ".join(f"{stage} {value:.0f} ms" for stage, value in answer.timings_ms.items())
        cached = ", cached answer" if answer.cached else ""
        _show_dim(f"\n{searched}, {answer.retriever}, {read}{cached}; {times}")


def _show_written(answer: Answer) -> None:
    """Print the sentences of a model, other words than the documents' underlined, and their quotes."""
    text = written_text(answer)
    words = {word for sentence in answer.written for word in sentence.underlined}
    pattern = "|".join(rf"\b{re.escape(word)}\b" for word in sorted(words, key=len, reverse=True))
    parts = re.split(f"({pattern})", text) if words else [text]
    styles = ["bold", "bold underline"] * len(parts)
    show(*zip(parts, styles, strict=False))
    for citation in answer.citations:
        day = f" ({citation.date})" if citation.date else ""
        show(f"  [{citation.number}] “", (_cut(shown(citation.span)), "bold green"), "”")
        _show_dim(f"      {place(citation)}{day}")


def _show_computed(computed: Computed) -> None:
    show((computed.value, "bold green"), f" with “{computed.words}”" if computed.words else "")
    for each in computed.documents:
        first = each.places[0]
        count = f"  {each.count:,} place{'s' * (each.count > 1)}  "
        count += f"copy of {each.copy_of}  " if each.copy_of else ""
        show(
            "  ",
            place(replace(first, heading=())),
            (f"{count}{_cut(shown(first.context), MAX_FIRST_WORDS)}", "dim"),
        )
    if computed.near:
        _show_dim(f"\n{len(computed.near)} more by meaning, without these words: {', '.join(computed.near)}")
    if computed.first and not computed.is_list:
        _show_dim(f"  {computed_from(computed)}: {place(computed.first)}{_confidence(computed.first)}")


def _others(above: Sequence[AnswerSpan], others: Sequence[AnswerSpan]) -> Iterator[AnswerSpan]:
    """The other answers whose words and sentence are not printed above them."""
    printed = [(shown(each.span).casefold(), shown(each.context).casefold()) for each in above]
    for other in others:
        text = shown(other.span).casefold()
        sentence = shown(other.context).casefold()
        if not any(text == each or sentence in around or around in sentence for each, around in printed):
            printed.append((text, sentence))
            yield other


def _show_best(best: AnswerSpan, table: TablePart | None) -> None:
    words = shown(best.span)
    sentence = shown(best.context)
    sure = f" ({best.verdict_confidence:.0%})" if best.verdict_confidence else ""
    show((f"{best.verdict}{sure}: " if best.verdict else "", "bold"), (words, "bold green"))
    if table:
        _show_table(table)
    elif sentence != words:
        before, quote, after = sentence.partition(words)
        show("  “", before, (quote, "bold green"), after, "”")
    day = f" ({best.date})" if best.date else ""
    _show_dim(f"  {place(best)}{day}{_confidence(best)}")
    if agreeing := best.also_in:
        more = f", and {len(agreeing) - MAX_PLACES} more" if len(agreeing) > MAX_PLACES else ""
        _show_dim(f"  also in {'; '.join(map(place, agreeing[:MAX_PLACES]))}{more}")
    if best.duplicates:
        _show_dim(f"  {near_duplicates(best.duplicates)}")


def _show_table(table: TablePart) -> None:
    """Print the first column and that of the cell, and as many others as fit into a line."""
    lines = [[_cut(cell, MAX_WORD) for cell in line] for line in (table.columns, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    order = dict.fromkeys([0, table.column, *range(len(widths))])
    total = accumulate(widths[column] + 2 for column in order)
    columns = sorted(column for column, end in zip(order, total, strict=True) if end <= MAX_LINE)
    cell = (table.row, table.column)
    for number, line in enumerate(lines, start=-1):
        row_style = "bold" if number == table.row else "dim"
        parts = [
            (f"  {line[column]:{widths[column]}}", "bold green" if (number, column) == cell else row_style)
            for column in columns
        ]
        show(*parts)


def _show_other(other: AnswerSpan, before: str = "") -> None:
    more = f", and {len(other.also_in)} more" if other.also_in else ""
    show(
        (f"  {before}", "dim"),
        _cut(shown(other.span)),
        (f"  {place(other)}{more}{_confidence(other)}", "dim"),
    )


def _show_declined(answer: Answer, hint: str) -> None:
    """Print the verdict, the candidates or the nearest passages, and one hint."""
    if nothing := empty_filter(answer.scope):
        return show((nothing, "bold"))
    if answer.candidates:
        show(("not sure; the nearest:", "bold"))
        for candidate in answer.candidates:
            words = _cut(shown(candidate.span))
            sentence = _cut(shown(candidate.context))
            sentence = sentence if words in sentence else words
            before, _, after = sentence.partition(words)
            show("  ", before, (words, "bold green"), after)
            _show_dim(f"    {place(candidate)}{_confidence(candidate)}")
    else:
        show((refusal(answer), "bold"))
        for hit in answer.nearest:
            show((f"  {place(replace(hit.passage, heading=()))}  ", "dim"), first_words(hit.passage))
    if hint := language_hint(answer.question) or hint:
        _show_dim(f"  {hint}")


def first_words(passage: Passage) -> str:
    """The beginning of a passage in one line, without the headings that its place names.

    >>> first_words(Passage(1, "a.md", 0, 25, "## The mill\\n\\nIt grinds rye.", heading=("The mill",)))
    'It grinds rye.'
    """
    lines = passage.text.splitlines()
    below = list(dropwhile(lambda line: line.strip(" #") in ("", *passage.heading), lines))
    words = display("\n".join(below or lines), passage.document_id)
    return _cut(words, MAX_FIRST_WORDS)


def show_explanation(explanation: Explanation, verbose: bool, listing: str) -> None:
    """Print the answer, its evidence by feature, ranks by stage, and the fate of a document."""
    show_answer(explanation.answer, verbose, "", listing)
    if explanation.answer.rejected:
        _show_dim("\nrejected")
    for rejected in explanation.answer.rejected:
        _show_other(rejected)
    best = explanation.best
    if best is None:
        show("\nno span was read, so there is nothing to explain")
    else:
        subject = "nearest span" if explanation.answer.no_answer else "answer"
        _show_dim(f"\nevidence for the {subject}: value x weight")
        _show_evidence(best)
        if explanation.formula is not None:
            _show_dim(f"    {explanation.formula}")
        _show_dim(f"\nrank of the passage among the hits: {explanation.rank}; by stage")
        _show_ranks(explanation.ranks)
        for stage, score in explanation.scores:
            if stage not in {rank.stage for rank in explanation.ranks}:
                show(f"  {stage}: score {score:.4f}")
    if explanation.document is not None:
        _show_fate(explanation.document)


def _show_fate(fate: DocumentFate) -> None:
    show((f"\n{fate.document}: {fate.stage}", "bold"))
    for line in filter(None, (fate.reason, fate.advice)):
        show(f"  {line}")
    _show_ranks(fate.ranks)
    if fate.best is not None:
        _show_evidence(fate.best)


def _show_ranks(ranks: Sequence[StageRank]) -> None:
    for rank in ranks:
        position = "not found" if rank.rank is None else f"{rank.rank} of {rank.depth}"
        score = "" if rank.score is None else f", score {rank.score:.4f}"
        show(f"  {rank.stage}: {position}{score}")


def _show_evidence(breakdown: ScoreBreakdown) -> None:
    """Print a span, its place, one line per feature (value, weight, contribution), and the sum."""
    width = max(len(term.feature) for term in breakdown.contributions)
    _show_other(breakdown.answer)
    for term in breakdown.contributions:
        numbers = f"{term.value:8.3f} x {term.weight:7.3f} = {term.contribution:8.3f}"
        show(f"    {term.feature:{width}}  {numbers}")
    show(f"    {'evidence':{width}}  {breakdown.evidence:28.3f}")


def show_summary(summary: Summary) -> None:
    """Print the sentences of a summary, their places and how many were dropped, or the overview."""
    say_spelling(summary)
    if summary.overview:
        for line in overview_lines(summary.overview):
            write(line.replace("\n", " "))
        return
    for sentence in summary.sentences:
        show(replace(sentence, text=shown_sentence(sentence)).cited)
    if summary.is_refusal:
        show((empty_filter(summary.scope) or "not in these documents", "bold"))
    elif summary.citations:
        show("")
    for citation in summary.citations:
        _show_dim(f"[{citation.number}] {place(citation)}")
    if summary.dropped:
        _show_dim(f"\nsentences dropped that the documents contradict: {len(summary.dropped)}")
    by = f", {summary.retriever}" if summary.retriever else ""
    passages = "1 passage" if summary.passages == 1 else f"{summary.passages:,} passages"
    _show_dim(f"\n{passages}, {summary.generator.name}{by}")


def _confidence(answer: AnswerSpan) -> str:
    return "" if answer.confidence is None else f"  (confidence {answer.confidence:.0%})"


def _cut(text: str, characters: int = MAX_QUOTE) -> str:
    """The text in one line, cut between two words."""
    words = " ".join(text.split())
    if len(words) <= characters:
        return words
    end = words.rfind(" ", characters - MAX_WORD, characters + 1)
    return (words[:end] if end > 0 else words[:characters]) + " …"
