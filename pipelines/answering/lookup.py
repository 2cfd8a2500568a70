"""Looks answers up in tables: rows by the words of the question, a column by its name, then an operation.

A word of the question is explained by a cell that holds it, by the name of a column or by the operation. A
reading of the question is the better, the fewer words it leaves unexplained: these ask for something that the
table does not say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from . import table_question as asked
from .table_question import NAMES, NEAR, NUMERIC, ORDERED, TIMES, Condition, Mention, Question
from .table_text import DATE, DURATION, EMPTY, MAX_CELL, TableText, common_unit

Cells = list[tuple[int, int]]
Pattern = re.Pattern[str]
Match = re.Match[str]


@dataclass(frozen=True)
class Result:
    """What a question gets from a table.

    operation: such as "look up" or "count".
    cells: row and column of the cells that answer, or from which the value is computed.
    values: the words of the answer.
    is_computed: the values are no words of the table.
    unexplained: words of the question that nothing explains.
    score: higher is better; 0 for a question whose words are all explained without doubt.
    """

    operation: str
    cells: Cells
    values: tuple[str, ...]
    is_computed: bool
    unexplained: tuple[str, ...]
    score: float


def look_up(text: str, table: TableText, context: Collection[str] = ()) -> Result | None:
    """The best result for a question; None if the table has none.

    `context` are stems of the words around the table, such as headings, which explain words of the question.
    """
    question = Question(text, table, context)
    is_yes_no = asked.YES_NO.match(question.text) is not None
    if asked.DECLINED.search(question.text) or (is_yes_no and asked.NEGATION.search(question.text)):
        return None
    results = []
    for conditions in asked.readings(question, table):
        for pattern, operation in YES_NO_OPERATIONS if is_yes_no else OPERATIONS:
            reading = Reading(question, table, conditions)
            match = pattern.search(question.text)
            if match and (operation is neighbour or not question.within(*match.span()) & reading.explained):
                reading.explain(match)
                results.append(operation(reading, match))
    return max(filter(None, results), key=lambda result: result.score, default=None)


class Reading:
    """One reading of a question: the conditions on rows, and the words that are explained so far."""

    def __init__(self, question: Question, table: TableText, conditions: Sequence[Condition]) -> None:
        self.question = question
        self.table = table
        self.conditions = conditions
        self.columns = {condition.column for condition in conditions}
        self.explained = {i for condition in conditions for i in condition.tokens}
        self.mentions = [
            Mention(mention.column, mention.tokens - self.explained, mention.share)
            for mention in asked.find_mentions(question, table)
            if mention.tokens - self.explained
        ]
        self.doubt = 0.1 * sum(not condition.is_exact for condition in conditions)

    def explain(self, match: Match | None) -> None:
        """Explain the words of a match."""
        if match:
            self.explained |= self.question.within(*match.span())

    def rows(self, without: Collection[Condition] = ()) -> list[int]:
        """The rows that fulfil all conditions but some; rows of totals only if there are no others."""
        held = [condition.rows for condition in self.conditions if condition not in without]
        if not held:
            return self.table.body
        rows = frozenset.intersection(*held)
        return sorted(rows & self.table.is_body or rows)

    def mention(
        self, near: int, kinds: Collection[str] = (), without: Collection[int] = (), within: int | None = None
    ) -> Mention | None:
        """The named column of some kinds that is best named near a word; its words are explained."""
        options = [
            mention
            for mention in self.mentions
            if mention.column not in without and (not kinds or self.table.kinds[mention.column] in kinds)
        ]
        best = max(
            options,
            key=lambda m: (len(m.tokens) + m.share - 0.4 * min(distance(m, near), 10), m.share),
            default=None,
        )
        if best is None or (within is not None and distance(best, near) > within):
            return None
        self.explained |= best.tokens
        return best

    def named_by(self, word: str, without: Collection[int] = ()) -> list[int]:
        """The columns that a word such as "who" or "tallest" asks for, by name, else by kind."""
        stems = {self.table.analyzer.term(name) for name in NAMES.get(word, "").split()}
        others = [column for column in range(len(self.table.columns)) if column not in without]
        columns = [column for column in others if stems & set(self.table.names[column])]
        return columns or [
            column for column in others if self.table.kinds[column] in asked.KINDS.get(word, ())
        ]

    def limited_rows(self) -> list[int]:
        """The rows that fulfil all conditions and the limits in the question."""
        rows = self.rows()
        for match in asked.LIMIT.finditer(self.question.text):
            number = Decimal(match[2].replace(",", ""))
            compare = asked.COMPARISONS[match[1]]
            kinds = TIMES if number in range(1500, 2101) else NUMERIC
            last = max(self.question.within(*match.span()))
            mention = self.mention(last, (*NUMERIC, *kinds))
            columns = [column for column, kind in enumerate(self.table.kinds) if kind in kinds]
            if mention is None and (not columns or (len(columns) > 1 and kinds is not TIMES)):
                return []
            self.doubt += 0.3 if mention is None else 0.0
            column = columns[0] if mention is None else mention.column
            self.explain(match)
            values = [(value, row) for row in rows if (value := self.table.value(row, column))]
            rows = [row for value, row in values if compare(value.amount, number)]
        return rows

    def target(self, without: Collection[int], is_superlative: bool = False) -> tuple[int, float] | None:
        """The column that is asked for, and the doubt about it."""
        words = self.question.words
        match = asked.WH.search(self.question.text)
        if match and (column := self._after_question_word(match, without, is_superlative)):
            return column
        for word in {"who", "when", "where"}.intersection(words):
            columns = self.named_by(word, without)
            if word == "who" and not columns and self.table.main not in without:
                columns = [self.table.main]
            if columns:
                self.explained |= {i for m in self.mentions if m.column == columns[0] for i in m.tokens}
                return columns[0], 0.3
        if mention := self.mention(0, without=without):
            return mention.column, 0.2 + 0.6 * (1 - mention.share)
        costs = self.named_by("cost", without) if words[0] == "how" else []
        if costs:
            return costs[0], 0.4
        return (self.table.main, 1.0) if match and self.table.main not in without else None

    def _after_question_word(
        self, match: Match, without: Collection[int], is_superlative: bool
    ) -> tuple[int, float] | None:
        """The column named by the words between "which" or "what" and the verb, or after "what is"."""
        first = self.question.following(match)
        phrase = []
        for i in range(first, len(self.question.words)):
            if self.question.words[i] in asked.AUXILIARIES:
                break
            phrase.append(i)
        explained = set(self.explained)
        mention = self.mention(first, without=without)
        if mention and (not phrase or min(mention.tokens) in phrase[: NEAR + 1]):
            is_number = is_superlative and self.table.kinds[mention.column] in NUMERIC
            if not (is_number and match[0].startswith("which")):
                return mention.column, 0.5 * (1 - mention.share)
        self.explained = explained
        if not phrase or self.table.main in without:
            return None
        nouns = [i for i in phrase[:NEAR] if i in self.question.content - explained]
        self.explained.update(nouns[:1])  # what the rows are
        return self.table.main, 0.5 if nouns else 0.3

    def result(self, operation: str, cells: Cells, doubt: float, value: str | None = None) -> Result | None:
        """The result with the words of the cells, or with a computed value."""
        texts = dict.fromkeys(self.table.rows[row][column] for row, column in cells)
        values = tuple(texts) if value is None else (value,)
        if not values or EMPTY & set(values) or max(map(len, values)) > MAX_CELL:
            return None
        names = {i for mention in self.mentions if mention.column in self.columns for i in mention.tokens}
        question = self.question
        rest = question.content - self.explained - names
        rest -= question.around
        unexplained = tuple(question.words[i] for i in sorted(rest) if question.stems[i] not in asked.LIGHT)
        n_operators = sum(word in asked.OPERATORS for word in unexplained)
        score = 0.02 * len(self.explained | names) - len(unexplained) - n_operators - doubt - self.doubt
        return Result(operation, cells, values, value is not None, unexplained, score)


def distance(mention: Mention, token: int) -> int:
    """The number of words from a word to the nearest one that names the column."""
    return min(abs(i - token) for i in mention.tokens)


def plain(reading: Reading, match: Match) -> Result | None:
    """The cells of the rows that fulfil the conditions, in the column that is asked for."""
    rows = reading.limited_rows()
    if not rows or len(rows) == len(reading.table.body) or asked.COUNT.search(reading.question.text):
        return None
    target = reading.target(reading.columns) or only_other(reading, rows)
    if target is None:
        return None
    column, doubt = target
    cells = [(row, column) for row in rows if reading.table.rows[row][column]]
    n_values = len({reading.table.rows[row][column] for row in rows})
    return reading.result("look up", cells, doubt + (0.0 if n_values == 1 else 1.0 if n_values <= 3 else 3.0))


def only_other(reading: Reading, rows: Sequence[int]) -> tuple[int, float] | None:
    """The only filled column of a row besides those of the conditions, and the doubt about it."""
    filled = {c for row in rows for c, cell in enumerate(reading.table.rows[row]) if cell} - reading.columns
    return (filled.pop(), 0.4) if len(rows) == 1 and len(filled) == 1 else None


def at_end(reading: Reading, match: Match) -> Result | None:
    """The first or the last row, by its date if the question names one, else as listed."""
    table = reading.table
    after = reading.question.following(match)
    is_first = asked.FIRST.fullmatch(match[0]) is not None
    if match[0] == "top" and any(
        after in m.tokens and table.kinds[m.column] in NUMERIC for m in reading.mentions
    ):
        return superlative(reading, match)
    rows = reading.limited_rows()
    is_listed = "listed" in reading.question.words or re.search(
        r"(?:what|which) (?:year|date)", reading.question.text
    )
    times = None if is_listed else reading.mention(after, TIMES, reading.columns)
    numbers = table.numbers(rows, times.column) if times else []
    target = reading.target(reading.columns | ({times.column} if times else set()))
    if not rows or target is None:
        return None
    column, doubt = target
    row = (min if is_first else max)(numbers)[1] if numbers else rows[0 if is_first else -1]
    return reading.result("first" if is_first else "last", [(row, column)], doubt + 0.3)


def superlative(reading: Reading, match: Match) -> Result | None:
    """The row with the largest or smallest value of a column, or the value itself."""
    table = reading.table
    word = match[0].split()[-1]
    is_largest = word in ("top", "newest", "youngest") or asked.LARGEST.fullmatch(match[0]) is not None
    rows = reading.limited_rows()
    after = reading.question.following(match)
    mention = reading.mention(after, ORDERED, within=NEAR)
    columns = (
        [mention.column] if mention else [c for c in reading.named_by(word) if table.kinds[c] in ORDERED]
    )
    if not columns:
        return most_rows(reading, rows, after) if word == "most" else None
    by = columns[0]
    numbers = table.numbers(rows, by)
    if not numbers or (len(columns) > 1 and word not in ("cheapest", "expensive")):
        return None
    doubt = 0.4 * (1 - mention.share) if mention else 0.3
    column, unsure = reading.target(reading.columns | {by}, is_superlative=True) or (table.main, 0.8)
    is_value = re.match(r"(?:what (?:is|was|are|were) |how |(?!wh))", reading.question.text)
    if is_value and mention and after in mention.tokens and (unsure >= 0.4 or column == table.main):
        column = by
        unsure = 0.2
    extreme = (max if is_largest else min)(number for number, _ in numbers)
    cells = [(row, column) for number, row in numbers if number == extreme]
    is_tie = len({table.rows[row][column] for row, _ in cells}) > 1
    operation = "largest" if is_largest else "smallest"
    return reading.result(operation, cells, doubt + unsure + 0.7 * is_tie)


def most_rows(reading: Reading, rows: Sequence[int], after: int) -> Result | None:
    """The cell that most rows have in the column that is asked for."""
    target = reading.target(reading.columns)
    if target is None:
        return None
    column, doubt = target
    counts = Counter(reading.table.rows[row][column] for row in rows).most_common(2)
    if not counts or counts[0][1] == 1 or counts[0][1] == counts[-1][1]:
        return None
    reading.explained.add(after)  # what the rows are
    cells = [(row, column) for row in rows if reading.table.rows[row][column] == counts[0][0]]
    return reading.result("most rows", cells, doubt + 0.6)


def neighbour(reading: Reading, match: Match) -> Result | None:
    """The row before or after the one that the question names, or the number of rows on that side."""
    table = reading.table
    first = reading.question.following(match)
    anchors = [c for c in reading.conditions if 0 <= min(c.tokens) - first <= NEAR]
    rows = reading.rows()
    if not anchors or len(rows) != 1:
        return None
    anchor = min(anchors, key=lambda condition: min(condition.tokens))
    is_after = asked.AFTER.fullmatch(match[0]) is not None
    is_listed = re.search(r"below|above|listed", match[0]) is not None
    is_down = is_after == (is_listed or not table.is_descending)
    if counted := asked.COUNT.search(reading.question.text):
        reading.explain(counted)
        beyond = [row for row in table.body if (row > rows[0] if is_down else row < rows[0])]
        return reading.result("count", [(row, anchor.column) for row in beyond], 0.6, str(len(beyond)))
    row = rows[0] + (1 if is_down else -1)
    if row not in table.body:
        return None
    column, doubt = reading.target(reading.columns - {anchor.column}) or (anchor.column, 0.3)
    if doubt >= 0.5:
        column = anchor.column
        doubt = 0.3
    return reading.result("after" if is_after else "before", [(row, column)], doubt)


def count(reading: Reading, match: Match) -> Result | None:
    """The number of rows, or the number in a cell that counts what is asked for."""
    table = reading.table
    rows = reading.limited_rows()
    after = reading.question.following(match)
    mention = reading.mention(after, within=2)
    if mention and table.kinds[mention.column] in NUMERIC:
        numbers = table.numbers(rows, mention.column)
        cells = [(row, mention.column) for _, row in numbers]
        if len(rows) == 1:
            return reading.result("look up", cells, 0.5 * (1 - mention.share))
        total = shown(sum(number for number, _ in numbers))
        return reading.result("sum", cells, 0.8, total) if reading.conditions and numbers else None
    if not rows:
        return None
    doubt = 0.2 if mention else 0.7
    if mention is None:
        reading.explained.add(after)  # what the rows are
    column = mention.column if mention else table.main
    if len(rows) == 1 and reading.conditions:
        doubt += 1.0
    if rows == table.body and not reading.conditions:
        by_cell = {table.rows[row][column]: row for row in reversed(rows)}
        if len(by_cell) < len(rows) and "different" not in reading.question.words:
            return None
        rows = sorted(by_cell.values())
        doubt += 0.2
    return reading.result("count", [(row, column) for row in rows], doubt, str(len(rows)))


def aggregate(reading: Reading, match: Match) -> Result | None:
    """The sum or the mean of a column over the rows that fulfil the conditions."""
    rows = reading.limited_rows()
    mention = reading.mention(min(reading.question.within(*match.span()), default=0), NUMERIC)
    if mention is None or asked.RANKS.search(reading.table.columns[mention.column]):
        return None
    reading.explain(asked.COUNT.search(reading.question.text))
    numbers = reading.table.numbers(rows, mention.column)
    cells = [(row, mention.column) for _, row in numbers]
    if len(numbers) < 2:
        return reading.result("look up", cells, 0.3)
    total = sum(number for number, _ in numbers)
    if asked.MEAN.fullmatch(match[0]):
        return reading.result("mean", cells, 0.3, shown(total / len(numbers), reading, cells))
    return reading.result("sum", cells, 0.7 + 0.4 * (1 - mention.share), shown(total, reading, cells))


def difference(reading: Reading, match: Match) -> Result | None:
    """The difference between the values of two rows that the question names."""
    pair = two_rows(reading)
    mention = reading.mention(reading.question.following(match), ORDERED)
    if pair is None or mention is None:
        return None
    cells = [(row, mention.column) for row in pair[1]]
    numbers = reading.table.numbers(pair[1], mention.column)
    if len(numbers) != 2 or reading.table.kinds[mention.column] == DATE:
        return None
    return reading.result("difference", cells, 0.2, shown(abs(numbers[0][0] - numbers[1][0]), reading, cells))


def either(reading: Reading, match: Match) -> Result | None:
    """The one of two rows, joined by "or", that has more or less of something."""
    table = reading.table
    question = reading.question
    pair = two_rows(reading)
    comparative = asked.COMPARATIVE.search(question.text) or asked.LARGEST.search(question.text)
    if pair is None or comparative is None:
        return None
    (first, second), rows = pair
    if "or" not in question.words[max(first.tokens) + 1 : min(second.tokens)]:
        return None
    reading.explain(comparative)
    is_up = "up" not in comparative.groupdict() or comparative["up"] is not None
    mention = reading.mention(question.following(comparative), ORDERED)
    by_time = {"first", "earlier", "sooner", "later", "older"}.intersection(comparative[0].split())
    columns = [mention.column] if mention else [c for c, kind in enumerate(table.kinds) if kind in TIMES]
    if not columns or not (mention or by_time):
        return None
    numbers = table.numbers(rows, columns[0])
    if len(numbers) != 2 or numbers[0][0] == numbers[1][0]:
        return None
    best = (max if is_up else min)(numbers)[1]
    return reading.result("either", [(best, first.column)], 0.1)


def two_rows(reading: Reading) -> tuple[tuple[Condition, Condition], list[int]] | None:
    """The two conditions on the same column that select a row each, with these rows."""
    counts = Counter(condition.column for condition in reading.conditions)
    for column, n_conditions in counts.items():
        if n_conditions == 2:
            first, second = sorted(
                (condition for condition in reading.conditions if condition.column == column),
                key=lambda condition: min(condition.tokens),
            )
            others = reading.rows(without=(first, second))
            sides = [[row for row in others if row in side.rows] for side in (first, second)]
            if all(len(side) == 1 for side in sides):
                return (first, second), [sides[0][0], sides[1][0]]
    return None


def yes_or_no(reading: Reading, match: Match) -> Result | None:
    """The cell that says yes or no."""
    rows = reading.rows()
    mention = reading.mention(len(reading.question.words), ("yes-no",))
    if mention is None or len(rows) != 1:
        return None
    return reading.result("yes or no", [(rows[0], mention.column)], 0.5 * (1 - mention.share))


def compared(reading: Reading, match: Match) -> Result | None:
    """Whether one row has more or less of something than another one."""
    pair = two_rows(reading)
    mention = reading.mention(reading.question.following(match), ORDERED)
    if pair is None or mention is None or "than" not in reading.question.words:
        return None
    reading.explained.add(reading.question.words.index("than"))
    numbers = reading.table.numbers(pair[1], mention.column)
    if len(numbers) != 2:
        return None
    is_more = numbers[0][0] > numbers[1][0]
    is_true = is_more if match["up"] else numbers[0][0] < numbers[1][0]
    cells = [(row, mention.column) for row in pair[1]]
    return reading.result("compare", cells, 0.2, "yes" if is_true else "no")


def shown(
    number: Decimal | float, reading: Reading | None = None, cells: Sequence[tuple[int, int]] = ()
) -> str:
    """A computed number with the unit of the cells."""
    digits = f"{round(Decimal(number), 2):f}"
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    values = [value for cell in cells if reading and (value := reading.table.value(*cell))]
    unit = common_unit(values)
    return f"{digits} {unit}" if unit and unit not in (DATE, DURATION) else digits


ANYTHING = re.compile("")
OPERATIONS: list[tuple[Pattern, Callable[[Reading, Match], Result | None]]] = [
    (asked.DIFFERENCE, difference),
    (asked.AFTER, neighbour),
    (asked.BEFORE, neighbour),
    (re.compile(r"\bor\b"), either),
    (asked.LARGEST, superlative),
    (asked.SMALLEST, superlative),
    (asked.FIRST, at_end),
    (asked.LAST, at_end),
    (asked.MEAN, aggregate),
    (asked.SUM, aggregate),
    (asked.COUNT, count),
    (ANYTHING, plain),
]
YES_NO_OPERATIONS: list[tuple[Pattern, Callable[[Reading, Match], Result | None]]] = [
    (re.compile(r"\bor\b"), either),
    (asked.COMPARATIVE, compared),
    (ANYTHING, yes_or_no),
]
