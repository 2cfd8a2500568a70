"""Conditions on the rows of a table: rows that hold words of the question, and ranges of rows.

A range goes from a row to another ("from May to July"), is one side of a row ("since 2019", "before
week 3"), or has a number of rows at an end of the table ("the last two months").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, islice, product, takewhile

from ...eval.quantities import (
    CLOCK,
    DATE,
    DURATION,
    NO_QUANTITIES,
    YEARS,
    Value,
    parse_value,
    spelled,
    written_dates,
)
from ..understanding.patterns import pattern
from . import table_question as asked
from .table_question import MEANT, TableQuestion
from .table_text import NO, ORDERED, YES

MAX_CONDITIONS = 5
MAX_SETS = 64
MAX_COLUMNS = 3  # in which the same words may be a condition
MAX_TEXTS = 2_000  # different cells with a word; a word that more cells hold selects no row alone
RANGE_WORD = pattern("ranges.before")
RANGE_TO = pattern("ranges.to")
ONWARDS = pattern("ranges.onwards")
ROWS_AT_END = pattern("ranges.rows_at_end")
# What else "between", "after" and "before" may mean.
FOR_SINGLE_ROWS = (asked.DIFFERENCE, asked.AFTER, asked.BEFORE)


@dataclass(frozen=True)
class Condition:
    """Rows that hold words of the question in a column.

    column: of the cells.
    tokens: positions of the words in the question.
    rows: that hold them.
    is_exact: the words are whole cells.
    exact: the rows in which they are.
    is_range: the rows are those of a range, so their column may be asked for.
    """

    column: int
    tokens: frozenset[int]
    rows: frozenset[int]
    is_exact: bool
    exact: frozenset[int] = frozenset()
    is_range: bool = False


@dataclass(frozen=True)
class RangeEnd:
    """A row or a value that a question names, which may be the end of a range.

    column: of the row, or of the values.
    place: start and end in the text of the question, with the words before it that name the column.
    order: the place of each row.
    first: its place in this order; of a month or a year that of its first day.
    last: the same of its last day.
    is_named: it is no number, or a word before it names the column.
    """

    column: int
    place: tuple[int, int]
    order: Mapping[int, Decimal]
    first: Decimal
    last: Decimal
    is_named: bool

    def rows(self, side: str) -> frozenset[int]:
        """The rows on a side, such as "since" it or "before" it."""
        return frozenset(row for row, place in self.order.items() if SIDES[side](place, self))


SIDES: dict[str, Callable[[Decimal, RangeEnd], bool]] = {
    "since": lambda place, end: place >= end.first,
    "until": lambda place, end: place <= end.last,
    "before": lambda place, end: place < end.first,
    "after": lambda place, end: place > end.last,
}


def condition_sets(question: TableQuestion) -> Iterator[list[Condition]]:
    """The sets of conditions that the question may mean, with its ranges and without them."""
    held = find_conditions(question)
    ranges = list(find_ranges(question, held))
    conditions = [*held, *_dated(question), *_answers_of(question)]
    if ranges:
        yield from _chosen(question, [*ranges, *conditions])
    if not ranges or any(form.search(question.text) for form in FOR_SINGLE_ROWS):
        yield from _chosen(question, conditions)


def _chosen(question: TableQuestion, conditions: Sequence[Condition]) -> Iterator[list[Condition]]:
    """The ways to choose among conditions: one column for each run of words, the longest runs first.

    A run that also names a column may be no condition; it is none if the cells only hold it.
    """
    by_run: dict[frozenset[int], dict[int, Condition]] = defaultdict(dict)
    for condition in sorted(
        conditions,
        key=lambda c: (
            not c.is_range,
            -len(c.tokens & question.content),
            not c.is_exact,
            min(c.tokens),
            c.column,
        ),
    ):
        by_run[condition.tokens].setdefault(condition.column, condition)
    options: list[list[list[Condition]]] = []
    taken: set[int] = set()
    for run, by_column in by_run.items():
        if not run & taken and len(options) < MAX_CONDITIONS:
            taken |= run
            choices = [[condition] for condition in by_column.values()][:MAX_COLUMNS]
            words = run & question.content
            strength = max(min((named.get(i, 0) for i in words), default=0) for named in question.named)
            is_sum = any(words <= question.within(match) for match in asked.SUM.finditer(question.text))
            is_exact = any(condition.is_exact for [condition] in choices)
            if strength == 1 and not is_exact:
                choices = []
            options.append(choices if is_exact and strength < MEANT and not is_sum else [*choices, []])
    for chosen in islice(product(*options), MAX_SETS):
        yield list(chain.from_iterable(chosen))


def find_conditions(question: TableQuestion) -> list[Condition]:
    """The runs of words that cells hold, with the rows for each column; none of them is part of a limit.

    If the question counts, cells that are the run and cells that hold it are the same.
    """
    table = question.table
    limits = {i for match in asked.LIMIT.finditer(question.text) for i in question.within(match)}
    cells: dict[tuple[int, int], None] = {}
    for i in sorted(question.content - limits):
        places: dict[tuple[int, int], None] = {}
        texts: set[str] = set()
        for row, column in table.places(question.stems[i]):
            places[row, column] = None
            texts.add(table.rows[row][column])
            if len(texts) > MAX_TEXTS:
                break
        else:
            cells.update(places)
    runs: dict[str, list[tuple[range, bool]]] = {}
    rows: dict[tuple[int, range, bool], set[int]] = defaultdict(set)
    for row, column in cells:
        text = table.rows[row][column]
        if text not in runs:
            runs[text] = list(_runs(question, table.stems(text)))
        for run, is_exact in runs[text]:
            rows[column, run, is_exact].add(row)
    is_count = asked.COUNT.search(question.text) is not None
    return [
        Condition(
            column,
            frozenset(run),
            frozenset(places).union(rows.get((column, run, not is_exact), ()) if is_count else ()),
            is_exact,
            frozenset(rows.get((column, run, True), ())),
        )
        for (column, run, is_exact), places in rows.items()
        if not limits.intersection(run)
    ]


def _dated(question: TableQuestion) -> Iterator[Condition]:
    """The rows of each day or month in the question, in each column of dates; without a year of any."""
    table = question.table
    for date, match in written_dates(question.text):
        is_month = date == date.whole
        if match[0] in NO_QUANTITIES - question.capitals:
            continue
        for column in table.of_kinds((DATE,)):
            values = table.values(table.body, column)
            days = [((value.whole if is_month else value).number, row) for value, row in values]
            rows = frozenset(row for day, row in days if date.number in (day, day % 10_000))
            if rows:
                yield Condition(column, question.within(match), rows, True, rows, is_range=is_month)


def _runs(question: TableQuestion, cell: Sequence[str]) -> Iterator[tuple[range, bool]]:
    """The longest runs of the question's words in a cell; True for those that are the whole cell."""
    runs = []
    for first in range(len(question.stems)):
        for place in range(len(cell)):
            pairs = zip(question.stems[first:], cell[place:], strict=False)
            length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            run = range(first, first + length)
            words = question.content.intersection(run)
            if words and length == len(cell):
                runs.append((run, True))
            elif first in words:  # a part of a cell has no function words at its ends
                runs.append((range(first, max(words) + 1), False))
    taken: set[int] = set()
    stems: set[str] = set()  # one cell explains a word once
    for run, is_exact in sorted(runs, key=lambda pair: (-len(pair[0]), pair[0].start)):
        if not taken.intersection(run) and not {question.stems[i] for i in run} <= stems:
            taken.update(run)
            stems.update(question.stems[i] for i in run)
            yield run, is_exact


def _answers_of(question: TableQuestion) -> list[Condition]:
    """The rows with yes, or no after a negation, in each column of yes and no that the question names."""
    if asked.YES_NO.match(question.text):
        return []
    table = question.table
    negation = {i for match in asked.NEGATION.finditer(question.text) for i in question.within(match)}
    answers = NO if negation else YES
    conditions = []
    for mention in question.mentions:
        if table.kinds[mention.column] == "yes-no" or (negation and mention.strength >= 1):
            rows = frozenset(r for r in table.body if table.rows[r][mention.column].lower() in answers)
            conditions.append(Condition(mention.column, mention.tokens | negation, rows, True, rows))
    return [condition for condition in conditions if condition.rows]


def find_ranges(question: TableQuestion, held: Sequence[Condition]) -> Iterator[Condition]:
    """The ranges that the question names, of some rows but not all; `held` are its words in cells."""
    ends = list(_range_ends(question, held))
    for end in filter(lambda end: end.is_named, ends):
        start, stop = end.place
        before = RANGE_WORD.search(question.text, 0, start)
        begin = before.start() if before else start
        word = before.lastgroup if before and before.lastgroup else ""
        for other in ends:
            middle = RANGE_TO.fullmatch(question.text, stop, max(stop, other.place[0]))
            if middle and other.column == end.column and (middle["and"] is not None) == (word == "between"):
                rows = end.rows("since") & other.rows("until")
                yield from _range(question, end.column, (begin, other.place[1]), rows)
        if onwards := ONWARDS.match(question.text, stop):
            word = "since"
            stop = onwards.end()
        if word in SIDES:
            yield from _range(question, end.column, (begin, stop), end.rows(word))
    yield from _rows_at_end(question)


def _range(
    question: TableQuestion, column: int, place: tuple[int, int], rows: frozenset[int]
) -> Iterator[Condition]:
    if rows and len(rows) < len(question.table.body):
        yield Condition(column, question.between(*place), rows, True, rows, is_range=True)


def _rows_at_end(question: TableQuestion) -> Iterator[Condition]:
    """The first or the last rows, as many as the question says, such as "the last three months"."""
    for match in ROWS_AT_END.finditer(question.text):
        number = int(match["number"]) if match["number"].isdecimal() else spelled(match["number"])
        noun = max(question.within(match))
        for column, strengths in enumerate(question.named):
            if noun in strengths:
                order = question.table.order(column)
                rows = sorted(order, key=order.__getitem__)
                some = frozenset(rows[:number] if match["first"] else rows[-number:])
                yield from _range(question, column, match.span(), some)


def _range_ends(question: TableQuestion, held: Sequence[Condition]) -> Iterator[RangeEnd]:
    """The rows and values that the question names, in each column where they have a place."""
    table = question.table
    for condition in held:
        order = table.order(condition.column)
        places = {order[row] for row in condition.exact if row in order}
        if len(places) == 1:
            place = places.pop()
            yield _range_end(question, condition.column, condition.tokens, order, (place, place))
            yield from _numbered(question, condition, order)
    values = list(_values(question))
    for column in table.of_kinds(ORDERED) if values else ():
        order = table.order(column)
        for value, tokens in values if order else ():
            if period := _period(value, order.values(), table.kinds[column]):
                yield _range_end(question, column, tokens, order, period)


def _range_end(
    question: TableQuestion,
    column: int,
    tokens: Collection[int],
    order: Mapping[int, Decimal],
    period: tuple[Decimal, Decimal],
) -> RangeEnd:
    """The end of a range at some words of the question, with the words before them that name the column."""
    first = min(tokens)
    while first - 1 in question.named[column]:
        first -= 1
    place = question.tokens[first].start, question.tokens[max(tokens)].end
    is_number = question.table.kinds[column] in ("number", "money")
    return RangeEnd(column, place, order, *period, not is_number or first < min(tokens))


def _numbered(
    question: TableQuestion, condition: Condition, order: Mapping[int, Decimal]
) -> Iterator[RangeEnd]:
    """The rows that differ in their number only, such as "5" after "weeks 2" for the cell "Week 5"."""
    *words, number = (question.stems[i] for i in sorted(condition.tokens))
    if not words or not number.isdecimal():
        return
    rows = {tuple(question.table.stems(question.table.rows[row][condition.column])): row for row in order}
    for i, stem in enumerate(question.stems):
        if i not in condition.tokens and stem.isdecimal() and (*words, stem) in rows:
            place = order[rows[*words, stem]]
            yield _range_end(question, condition.column, {i}, order, (place, place))


def _values(question: TableQuestion) -> Iterator[tuple[Value, frozenset[int]]]:
    """The dates, times and numbers in the question, with the positions of their words.

    A date without a year has that of the others, if these have one.
    """
    dates = list(written_dates(question.text))
    years = {date.number // 10_000 for date, _ in dates if date.number > 10_000}
    year = years.pop() if len(years) == 1 else 0
    taken: set[int] = set()
    for date, match in dates:
        number = date.number if date.number > 10_000 else 10_000 * year + date.number
        taken |= question.within(match)
        yield Value(Decimal(number), DATE), question.within(match)
    for match in CLOCK.finditer(question.text):
        taken |= question.within(match)
        if time := parse_value(match[0]):
            yield time, question.within(match)
    for i, word in enumerate(question.words):
        if word.isdecimal() and i not in taken:
            yield Value(Decimal(word)), frozenset({i})


def _period(value: Value, places: Collection[Decimal], kind: str) -> tuple[Decimal, Decimal] | None:
    """The first and the last place of a value; None for another kind, and for one beyond all rows.

    A date without a year is of the year of all dates in the column.
    """
    first = last = value.number
    years = {place // 10_000 for place in places} if kind == DATE else set()
    if kind == DATE and not value.unit and first in YEARS:
        first *= 10_000
        last = first + 9_999
    elif kind == DATE and value.unit == DATE:
        if first < 10_000 and len(years) == 1:
            first += 10_000 * min(years)
        elif years == {0}:
            first %= 10_000
        last = first if first % 100 else first + 99
    elif value.unit != (kind if kind in (DATE, DURATION) else "") or (kind == "year" and first not in YEARS):
        return None
    return (first, last) if min(places) <= last and first <= max(places) else None
