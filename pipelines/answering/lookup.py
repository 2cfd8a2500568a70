"""Looks answers up in tables: rows by the words of the question, a column by its name, then an operation.

A word of the question is explained by a cell that holds it, by the name of a column or by the operation. The
fewer words an interpretation leaves unexplained, the better: they ask for what the table does not say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from ...eval.quantities import DATE, DURATION, TIMES, Value, common_unit
from . import table_question as asked
from .row_conditions import Condition, condition_sets
from .table_interpretation import Interpretation, Result
from .table_question import NEAR, TableQuestion
from .table_text import NUMERIC, ORDERED, TableText


def look_up(text: str, table: TableText, context: Collection[str] = ()) -> Result | None:
    """The best result for a question; None if the table has none.

    `context` are stems of the words around the table, such as headings, which explain words of the question.
    """
    question = TableQuestion(text, table, context)
    if not question.meets_table():
        return None
    is_yes_no = asked.YES_NO.match(question.text) is not None
    if is_yes_no and asked.NEGATION.search(question.text):
        return None
    operations = YES_NO_OPERATIONS if is_yes_no else OPERATIONS
    results = []
    for conditions in condition_sets(question):
        for pattern, operation in operations if table.is_whole else operations[-1:]:
            if match := pattern.search(question.text):
                meaning = Interpretation(question, conditions, match)
                if operation is neighbour or not question.within(match) & meaning.explained:
                    meaning.explain(match)
                    results.append(operation(meaning))
    return max(filter(None, results), key=lambda result: result.score, default=None)


def plain(meaning: Interpretation) -> Result | None:
    """The cells of the rows that fulfil the conditions, in the column that is asked for.

    For one row this may be the only filled cell besides those of the conditions.
    """
    table = meaning.table
    rows = meaning.limited_rows()
    if not rows or len(rows) == len(table.body) or asked.COUNT.search(meaning.question.text):
        return None
    if len(rows) > 1 and not table.is_whole:
        return None
    target = meaning.target(meaning.columns)
    if target is None:
        others = {c for row in rows for c, cell in enumerate(table.rows[row]) if cell} - meaning.columns
        if len(rows) != 1 or len(others) != 1:
            return None
        target = others.pop(), 0.4
    column, doubt = target
    filled = [row for row in rows if table.rows[row][column]]
    n_values = len({table.rows[row][column] for row in rows})
    if n_values > 1:
        is_several = asked.SEVERAL.search(meaning.question.text) or meaning.names_condition()
        doubt += 0.1 if is_several else 0.8 if n_values <= 3 else 3.0
    return meaning.result("look up", filled, column, doubt)


def at_end(meaning: Interpretation) -> Result | None:
    """The first or the last row, by its date if the question names one, else as listed."""
    table = meaning.table
    question = meaning.question
    names_number = any(meaning.near in question.named[c] for c in table.of_kinds(NUMERIC))
    if meaning.match[0] == "top" and names_number:
        return superlative(meaning)
    rows = meaning.limited_rows()
    if question.text.startswith("how long"):
        return None
    is_listed = "listed" in question.words or re.search(r"(?:what|which) (?:year|date)", question.text)
    times = None if is_listed else meaning.take_mention(meaning.near, TIMES, meaning.columns)
    by = {times.column} if times else set()
    target = meaning.target(meaning.columns | by)
    if not rows or target is None:
        return None
    column, doubt = target
    numbers = [number for time in by for number in table.numbers(rows, time)]
    is_first = meaning.match.re is asked.FIRST
    row = ([row for _, row in sorted(numbers)] or rows)[0 if is_first else -1]
    return meaning.result("first" if is_first else "last", [row], column, doubt + 0.3)


def superlative(meaning: Interpretation) -> Result | None:
    """The row with the largest or smallest value of a column, or the value itself."""
    table = meaning.table
    word = meaning.match[0].split()[-1]
    rows = meaning.limited_rows()
    kinds = NUMERIC if word in ("best", "worst") else ORDERED  # a best year is no latest one
    columns = [c for c in meaning.named_by(word) if table.kinds[c] in kinds]
    doubt = 0.3
    if mention := meaning.take_mention(meaning.near, kinds, within=NEAR):
        columns = [mention.column]
        doubt = 0.4 * (1 - mention.share)
    if not columns:
        return most_rows(meaning, rows) if word == "most" else None
    by = columns[0]
    numbers = table.numbers(rows, by)
    if not numbers or (len(columns) > 1 and word not in ("cheapest", "expensive")):
        return None
    column, unsure = meaning.target(meaning.columns | {by}, is_superlative=True) or (table.main, 0.8)
    word_of_question = QUESTION_WORD.search(meaning.question.text)
    is_value = word_of_question is None or word_of_question["value"]
    is_direct = word_of_question is not None and meaning.match.start() <= word_of_question.end() + 1
    skipped = 2 if meaning.question.words[meaning.near : meaning.near + 2] == ["number", "of"] else 0
    is_name = any(meaning.question.named[by].get(meaning.near + n) == 1 for n in (0, skipped))
    is_amount = meaning.question.text.startswith(("how much", "how many", "how long"))
    may_be_value = is_direct or unsure >= 0.4 or column == table.main
    if is_value and mention and (is_name or is_amount) and may_be_value:
        column = by
        unsure = 0.2
    is_speed = word in ("fastest", "slowest") and "speed" in table.names[by]
    is_age = word in ("oldest", "youngest") and table.kinds[by] not in TIMES
    is_smallest = (meaning.match.re is asked.SMALLEST) != (is_speed or is_age)
    extreme = (min if is_smallest else max)(number for number, _ in numbers)
    rows = [row for number, row in numbers if number == extreme]
    if column == table.main:
        unsure += 0.3 * (meaning.near in meaning.question.content - meaning.explained)
        meaning.explained.add(meaning.near)  # what the rows are
    is_tie = len({table.rows[row][column] for row in rows}) > 1
    operation = "smallest" if is_smallest else "largest"
    return meaning.result(operation, rows, column, doubt + unsure + 0.7 * is_tie)


def most_rows(meaning: Interpretation, rows: Sequence[int]) -> Result | None:
    """The cell that most rows have in the column that is asked for."""
    target = meaning.target(meaning.columns)
    if target is None:
        return None
    column, doubt = target
    counts = Counter(meaning.table.rows[row][column] for row in rows).most_common(2)
    if len(counts) < 2 or counts[0][1] == counts[1][1]:
        return None
    meaning.explained.add(meaning.near)  # what the rows are
    equal = [row for row in rows if meaning.table.rows[row][column] == counts[0][0]]
    return meaning.result("most rows", equal, column, doubt + 0.6)


def neighbour(meaning: Interpretation) -> Result | None:
    """The row before or after the one that the question names, or the number of rows on that side."""
    table = meaning.table
    near = meaning.near
    anchors = {min(c.tokens): c.column for c in meaning.conditions if 0 <= min(c.tokens) - near <= NEAR}
    rows = meaning.rows()
    if not anchors or len(rows) != 1:
        return None
    anchor = anchors[min(anchors)]
    is_after = meaning.match.re is asked.AFTER
    is_listed = re.search(r"below|above|listed", meaning.match[0]) is not None
    is_down = is_after == (is_listed or not table.is_descending)
    if counted := asked.COUNT.search(meaning.question.text):
        meaning.explain(counted)
        beyond = [row for row in table.body if (row > rows[0] if is_down else row < rows[0])]
        return meaning.result("count", beyond, anchor, 0.6, str(len(beyond)))
    row = rows[0] + (1 if is_down else -1)
    if row not in table.is_body:
        return None
    target = meaning.target(meaning.columns - {anchor})
    is_named = target and target[1] < 0.5 and table.kinds[target[0]] not in ORDERED
    column, doubt = target if target and is_named else (anchor, 0.3)
    return meaning.result("after" if is_after else "before", [row], column, doubt)


def count(meaning: Interpretation) -> Result | None:
    """The number of rows, or the number in a cell that counts what is asked for."""
    table = meaning.table
    rows = meaning.limited_rows()
    exact = meaning.rows(is_exact=True)
    is_row = bool(meaning.conditions) and len(exact) == 1
    column = table.main
    doubt = 0.7
    mention = meaning.take_mention(meaning.near, within=2)
    is_number = mention and table.kinds[mention.column] in NUMERIC
    if is_row and not is_number and (named := meaning.take_mention(meaning.near, NUMERIC, meaning.columns)):
        mention = named
        meaning.explained.add(meaning.near)
        meaning.doubt += 0.3
    if is_row and not mention and (counts := amounts(meaning)):
        meaning.explained.add(meaning.near)  # what the row is
        return meaning.result("look up", exact, counts[0], 0.3)
    if mention:
        column = mention.column
        doubt = 0.2
        is_name = table.numbers_rows(column) or (column == 0 and not meaning.conditions)
        if table.kinds[column] in NUMERIC and not is_name:
            if is_row:
                return meaning.result("look up", exact, column, 0.5 * (1 - mention.share))
            numbers = table.numbers(rows, column)
            counted = [row for _, row in numbers]
            total = shown(sum(number for number, _ in numbers))
            return meaning.result("sum", counted, column, 0.8, total) if meaning.conditions else None
    else:
        meaning.explained.add(meaning.near)  # what the rows are
    if not table.is_body.issuperset(rows) or not rows:  # totals, and the names of groups
        return None
    if meaning.conditions:
        doubt += is_row and (len(rows) == 1 or table.main in meaning.columns)
    elif rows == table.body:
        by_cell = {table.rows[row][column]: row for row in reversed(rows)}
        if len(by_cell) < len(rows) and "different" not in meaning.question.words:
            return None
        rows = sorted(by_cell.values())
        doubt += 0.2
    return meaning.result("count", rows, column, doubt, str(len(rows)))


def amounts(meaning: Interpretation) -> list[int]:
    """The columns that say how many there are of what a row is."""
    return [c for c in meaning.named_by("quantity", meaning.columns) if meaning.table.kinds[c] in NUMERIC]


def aggregate(meaning: Interpretation) -> Result | None:
    """The sum or the mean of a column over the rows that fulfil the conditions."""
    table = meaning.table
    rows = meaning.limited_rows()
    if not (rows or asked.LIMIT.search(meaning.question.text)):
        rows = meaning.joined_rows()
    column = meaning.measured_by(meaning.match, NUMERIC)
    counted = asked.COUNT.search(meaning.question.text)
    if column is None and counted:
        column = next(iter(amounts(meaning)), None)
    if column is None or table.numbers_rows(column):
        return None
    meaning.explain(counted)
    numbers = table.numbers(rows, column)
    rows = [row for _, row in numbers]
    if len(rows) < 2:
        return meaning.result("look up", rows, column, 0.3)
    total = sum(number for number, _ in numbers)
    values = [value for value, _ in table.values(rows, column)]
    if meaning.match.re is asked.MEAN:
        return meaning.result("mean", rows, column, 0.3, shown(total / len(rows), values))
    for match in asked.SUM.finditer(meaning.question.text):
        meaning.explain(match)
    return meaning.result("sum", rows, column, 0.6, shown(total, values))


def difference(meaning: Interpretation) -> Result | None:
    """The difference of two values, in two rows, or in two columns of the same row."""
    table = meaning.table
    words = meaning.question.words
    rows = two_rows(meaning)
    column = meaning.measured_by(meaning.match)
    columns = [] if column is None else [column]
    if not rows and meaning.conditions:
        rows = meaning.rows()
        numeric = set(table.of_kinds(NUMERIC)) - meaning.columns.union(columns)
        others = [m for m in meaning.mentions if m.column in numeric and m.strength >= 1]
        if len(others) == 1:
            columns.append(others[0].column)
            meaning.explained |= others[0].tokens
    cells = [(row, column) for row in rows for column in columns]
    values = [value for row, column in cells for value, _ in table.values([row], column)]
    if len(cells) != 2 or len(values) != 2 or common_unit(values) in (None, DATE):
        return None
    meaning.explained.update(words.index(word) for word in ("than", "between") if word in words)
    distance = abs(values[0].number - values[1].number)
    return meaning.computed("difference", cells, 0.2, shown(distance, values))


def two_rows(meaning: Interpretation) -> list[int]:
    """The two rows that two conditions on the same column select, else none."""
    by_column: dict[int, list[Condition]] = {}
    for condition in sorted(meaning.conditions, key=lambda condition: min(condition.tokens)):
        by_column.setdefault(condition.column, []).append(condition)
    for pair in by_column.values():
        others = meaning.rows(without=pair) if len(pair) == 2 else []
        selected = [(row, condition) for condition in pair for row in others if row in condition.rows]
        if [condition for _, condition in selected] == pair:
            return [row for row, _ in selected]
    return []


def yes_or_no(meaning: Interpretation) -> Result | None:
    """The cell that says yes or no."""
    rows = meaning.rows()
    mention = meaning.take_mention(len(meaning.question.words), ("yes-no",))
    if mention is None or len(rows) != 1:
        return None
    return meaning.result("yes or no", rows, mention.column, 0.5 * (1 - mention.share))


def shown(number: Decimal | float, values: Iterable[Value] = ()) -> str:
    """A computed number with the unit of the values."""
    digits = f"{Decimal(number).quantize(Decimal('0.01'), ROUND_HALF_UP).normalize():f}"
    unit = common_unit(values)
    return f"{digits} {unit}" if unit and unit not in (DATE, DURATION) else digits


ANYTHING = re.compile("")
QUESTION_WORD = re.compile(r"\b(?:(?P<value>how|what (?:is|was|are|were))|wh(?:at|ich|om?|ose|en|ere|y))\b")
Operations = list[tuple[re.Pattern[str], Callable[[Interpretation], Result | None]]]
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
