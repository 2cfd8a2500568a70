"""Looks answers up in tables: rows by the words of the question, a column by its name, then an operation.

A word of the question is explained by a cell that holds it, by the name of a column or by the operation. A
reading of the question is the better, the fewer words it leaves unexplained: these ask for something that the
table does not say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from ...eval.quantities import DATE, DURATION, TIMES, Value, common_unit
from . import table_question as asked
from .row_conditions import Condition, readings
from .table_question import NEAR, NUMERIC, ORDERED, Question
from .table_reading import Reading, Result
from .table_text import TableText


def look_up(text: str, table: TableText, context: Collection[str] = ()) -> Result | None:
    """The best result for a question; None if the table has none.

    `context` are stems of the words around the table, such as headings, which explain words of the question.
    """
    question = Question(text, table, context)
    if not question.meets_table():
        return None
    is_yes_no = asked.YES_NO.match(question.text) is not None
    if is_yes_no and asked.NEGATION.search(question.text):
        return None
    operations = YES_NO_OPERATIONS if is_yes_no else OPERATIONS
    results = []
    for conditions in readings(question):
        for pattern, operation in operations if table.is_whole else operations[-1:]:
            if match := pattern.search(question.text):
                reading = Reading(question, conditions, match)
                if operation is neighbour or not question.within(match) & reading.explained:
                    reading.explain(match)
                    results.append(operation(reading))
    return max(filter(None, results), key=lambda result: result.score, default=None)


def plain(reading: Reading) -> Result | None:
    """The cells of the rows that fulfil the conditions, in the column that is asked for.

    For one row this may be the only filled cell besides those of the conditions.
    """
    table = reading.table
    rows = reading.limited_rows()
    if not rows or len(rows) == len(table.body) or asked.COUNT.search(reading.question.text):
        return None
    if len(rows) > 1 and not table.is_whole:
        return None
    target = reading.target(reading.columns)
    if target is None:
        others = {c for row in rows for c, cell in enumerate(table.rows[row]) if cell} - reading.columns
        if len(rows) != 1 or len(others) != 1:
            return None
        target = others.pop(), 0.4
    column, doubt = target
    filled = [row for row in rows if table.rows[row][column]]
    n_values = len({table.rows[row][column] for row in rows})
    if n_values > 1:
        is_several = asked.SEVERAL.search(reading.question.text) or reading.names_condition()
        doubt += 0.1 if is_several else 0.8 if n_values <= 3 else 3.0
    return reading.result("look up", filled, column, doubt)


def at_end(reading: Reading) -> Result | None:
    """The first or the last row, by its date if the question names one, else as listed."""
    table = reading.table
    question = reading.question
    names_number = any(reading.near in question.named[c] for c in table.of_kinds(NUMERIC))
    if reading.match[0] == "top" and names_number:
        return superlative(reading)
    rows = reading.limited_rows()
    if question.text.startswith("how long"):
        return None
    is_listed = "listed" in question.words or re.search(r"(?:what|which) (?:year|date)", question.text)
    times = None if is_listed else reading.mention(reading.near, TIMES, reading.columns)
    by = {times.column} if times else set()
    target = reading.target(reading.columns | by)
    if not rows or target is None:
        return None
    column, doubt = target
    numbers = [number for time in by for number in table.numbers(rows, time)]
    is_first = reading.match.re is asked.FIRST
    row = ([row for _, row in sorted(numbers)] or rows)[0 if is_first else -1]
    return reading.result("first" if is_first else "last", [row], column, doubt + 0.3)


def superlative(reading: Reading) -> Result | None:
    """The row with the largest or smallest value of a column, or the value itself."""
    table = reading.table
    word = reading.match[0].split()[-1]
    rows = reading.limited_rows()
    kinds = NUMERIC if word in ("best", "worst") else ORDERED  # a best year is no latest one
    columns = [c for c in reading.named_by(word) if table.kinds[c] in kinds]
    doubt = 0.3
    if mention := reading.mention(reading.near, kinds, within=NEAR):
        columns = [mention.column]
        doubt = 0.4 * (1 - mention.share)
    if not columns:
        return most_rows(reading, rows) if word == "most" else None
    by = columns[0]
    numbers = table.numbers(rows, by)
    if not numbers or (len(columns) > 1 and word not in ("cheapest", "expensive")):
        return None
    column, unsure = reading.target(reading.columns | {by}, is_superlative=True) or (table.main, 0.8)
    word_of_question = QUESTION_WORD.search(reading.question.text)
    is_value = word_of_question is None or word_of_question["value"]
    is_name = reading.question.named[by].get(reading.near) == 1
    is_amount = reading.question.text.startswith(("how much", "how many", "how long"))
    if is_value and mention and (is_name or is_amount) and (unsure >= 0.4 or column == table.main):
        column = by
        unsure = 0.2
    is_speed = word in ("fastest", "slowest") and "speed" in table.names[by]
    is_age = word in ("oldest", "youngest") and table.kinds[by] not in TIMES
    is_smallest = (reading.match.re is asked.SMALLEST) != (is_speed or is_age)
    extreme = (min if is_smallest else max)(number for number, _ in numbers)
    rows = [row for number, row in numbers if number == extreme]
    if column == table.main:
        unsure += 0.3 * (reading.near in reading.question.content - reading.explained)
        reading.explained.add(reading.near)  # what the rows are
    is_tie = len({table.rows[row][column] for row in rows}) > 1
    operation = "smallest" if is_smallest else "largest"
    return reading.result(operation, rows, column, doubt + unsure + 0.7 * is_tie)


def most_rows(reading: Reading, rows: Sequence[int]) -> Result | None:
    """The cell that most rows have in the column that is asked for."""
    target = reading.target(reading.columns)
    if target is None:
        return None
    column, doubt = target
    counts = Counter(reading.table.rows[row][column] for row in rows).most_common(2)
    if len(counts) < 2 or counts[0][1] == counts[1][1]:
        return None
    reading.explained.add(reading.near)  # what the rows are
    equal = [row for row in rows if reading.table.rows[row][column] == counts[0][0]]
    return reading.result("most rows", equal, column, doubt + 0.6)


def neighbour(reading: Reading) -> Result | None:
    """The row before or after the one that the question names, or the number of rows on that side."""
    table = reading.table
    near = reading.near
    anchors = {min(c.tokens): c.column for c in reading.conditions if 0 <= min(c.tokens) - near <= NEAR}
    rows = reading.rows()
    if not anchors or len(rows) != 1:
        return None
    anchor = anchors[min(anchors)]
    is_after = reading.match.re is asked.AFTER
    is_listed = re.search(r"below|above|listed", reading.match[0]) is not None
    is_down = is_after == (is_listed or not table.is_descending)
    if counted := asked.COUNT.search(reading.question.text):
        reading.explain(counted)
        beyond = [row for row in table.body if (row > rows[0] if is_down else row < rows[0])]
        return reading.result("count", beyond, anchor, 0.6, str(len(beyond)))
    row = rows[0] + (1 if is_down else -1)
    if row not in table.is_body:
        return None
    target = reading.target(reading.columns - {anchor})
    is_named = target and target[1] < 0.5 and table.kinds[target[0]] not in ORDERED
    column, doubt = target if target and is_named else (anchor, 0.3)
    return reading.result("after" if is_after else "before", [row], column, doubt)


def count(reading: Reading) -> Result | None:
    """The number of rows, or the number in a cell that counts what is asked for."""
    table = reading.table
    rows = reading.limited_rows()
    exact = reading.rows(is_exact=True)
    is_row = bool(reading.conditions) and len(exact) == 1
    column = table.main
    doubt = 0.7
    mention = reading.mention(reading.near, within=2)
    is_number = mention and table.kinds[mention.column] in NUMERIC
    if is_row and not is_number and (named := reading.mention(reading.near, NUMERIC, reading.columns)):
        mention = named
        reading.explained.add(reading.near)
        reading.doubt += 0.3
    if mention:
        column = mention.column
        doubt = 0.2
        is_name = table.numbers_rows(column) or (column == 0 and not reading.conditions)
        if table.kinds[column] in NUMERIC and not is_name:
            if is_row:
                return reading.result("look up", exact, column, 0.5 * (1 - mention.share))
            numbers = table.numbers(rows, column)
            counted = [row for _, row in numbers]
            total = shown(sum(number for number, _ in numbers))
            return reading.result("sum", counted, column, 0.8, total) if reading.conditions else None
    else:
        reading.explained.add(reading.near)  # what the rows are
    if not table.is_body.issuperset(rows) or not rows:  # totals, and the names of groups
        return None
    if reading.conditions:
        doubt += is_row and (len(rows) == 1 or table.main in reading.columns)
    elif rows == table.body:
        by_cell = {table.rows[row][column]: row for row in reversed(rows)}
        if len(by_cell) < len(rows) and "different" not in reading.question.words:
            return None
        rows = sorted(by_cell.values())
        doubt += 0.2
    return reading.result("count", rows, column, doubt, str(len(rows)))


def aggregate(reading: Reading) -> Result | None:
    """The sum or the mean of a column over the rows that fulfil the conditions."""
    table = reading.table
    rows = reading.limited_rows()
    if not (rows or asked.LIMIT.search(reading.question.text)):
        rows = reading.joined_rows()
    column = reading.measured_by(reading.match, NUMERIC)
    if column is None or table.numbers_rows(column):
        return None
    reading.explain(asked.COUNT.search(reading.question.text))
    numbers = table.numbers(rows, column)
    rows = [row for _, row in numbers]
    if len(rows) < 2:
        return reading.result("look up", rows, column, 0.3)
    total = sum(number for number, _ in numbers)
    values = [value for value, _ in table.values(rows, column)]
    if reading.match.re is asked.MEAN:
        return reading.result("mean", rows, column, 0.3, shown(total / len(rows), values))
    for match in asked.SUM.finditer(reading.question.text):
        reading.explain(match)
    return reading.result("sum", rows, column, 0.6, shown(total, values))


def difference(reading: Reading) -> Result | None:
    """The difference of two values, in two rows, or in two columns of the same row."""
    table = reading.table
    words = reading.question.words
    rows = two_rows(reading)
    column = reading.measured_by(reading.match)
    columns = [] if column is None else [column]
    if not rows and reading.conditions:
        rows = reading.rows()
        numeric = set(table.of_kinds(NUMERIC)) - reading.columns.union(columns)
        others = [m for m in reading.mentions if m.column in numeric and m.strength >= 1]
        if len(others) == 1:
            columns.append(others[0].column)
            reading.explained |= others[0].tokens
    cells = [(row, column) for row in rows for column in columns]
    values = [value for row, column in cells for value, _ in table.values([row], column)]
    if len(cells) != 2 or len(values) != 2 or common_unit(values) in (None, DATE):
        return None
    reading.explained.update(words.index(word) for word in ("than", "between") if word in words)
    distance = abs(values[0].number - values[1].number)
    return reading.computed("difference", cells, 0.2, shown(distance, values))


def two_rows(reading: Reading) -> list[int]:
    """The two rows that two conditions on the same column select, else none."""
    by_column: dict[int, list[Condition]] = {}
    for condition in sorted(reading.conditions, key=lambda condition: min(condition.tokens)):
        by_column.setdefault(condition.column, []).append(condition)
    for pair in by_column.values():
        others = reading.rows(without=pair) if len(pair) == 2 else []
        selected = [(row, condition) for condition in pair for row in others if row in condition.rows]
        if [condition for _, condition in selected] == pair:
            return [row for row, _ in selected]
    return []


def yes_or_no(reading: Reading) -> Result | None:
    """The cell that says yes or no."""
    rows = reading.rows()
    mention = reading.mention(len(reading.question.words), ("yes-no",))
    if mention is None or len(rows) != 1:
        return None
    return reading.result("yes or no", rows, mention.column, 0.5 * (1 - mention.share))


def shown(number: Decimal | float, values: Iterable[Value] = ()) -> str:
    """A computed number with the unit of the values."""
    digits = f"{Decimal(number).quantize(Decimal('0.01'), ROUND_HALF_UP).normalize():f}"
    unit = common_unit(values)
    return f"{digits} {unit}" if unit and unit not in (DATE, DURATION) else digits


ANYTHING = re.compile("")
QUESTION_WORD = re.compile(r"\b(?:(?P<value>how|what (?:is|was|are|were))|wh(?:at|ich|om?|ose|en|ere|y))\b")
Operations = list[tuple[re.Pattern[str], Callable[[Reading], Result | None]]]
OPERATIONS: Operations = [
    (asked.DIFFERENCE, difference),
    (asked.AFTER, neighbour),
    (asked.BEFORE, neighbour),
    (asked.LARGEST, superlative),
    (asked.SMALLEST, superlative),
    (asked.FIRST, at_end),
    (asked.LAST, at_end),
    (asked.MEAN, aggregate),
    (asked.SUM, aggregate),
    (asked.SPENT, aggregate),
    (asked.COUNT, count),
    (ANYTHING, plain),
]
YES_NO_OPERATIONS: Operations = [(ANYTHING, yes_or_no)]
