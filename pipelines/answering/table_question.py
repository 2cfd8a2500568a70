"""The words of a question that is asked of a table: the rows, columns and operations that they may mean."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, islice, product, takewhile
from operator import ge, gt, le, lt

from ...eval.quantities import DATE, DURATION, NUMBER_WORDS, TIMES, WRITTEN_DATE, parse_value, spelled
from ...index.analysis import STOP_WORDS
from ..understanding.patterns import mapping, pattern, words
from .table_text import NO, YES, TableText

MEANINGS = mapping("columns.meanings")
MEANT = 0.85  # the strength of a word with the meaning of a name, against 1 for a word of the name
MAX_CONDITIONS = 5
MAX_READINGS = 64
MAX_TEXTS = 2_000  # different cells with a word; a word that more cells hold selects no row alone
NEAR = 3  # words
RANGE_ENDS = words("ranges.until")
RANGE_TO = words("ranges.to")
BETWEEN = "between"
RANGE_FROM = ("from", BETWEEN)
MIN_PART = 4  # characters of a word within a word of a name
NUMERIC = ("number", "money", DURATION)
ORDERED = (*NUMERIC, *TIMES)
MEASURES = ("number", DURATION)  # of sizes and times
KINDS = {
    word: tuple(kinds.split()) for row, kinds in mapping("table_words.kinds").items() for word in row.split()
}
ASKING = pattern("asked_column.question")
OPERATORS = frozenset(words("table_words.operators"))
PAID = frozenset(words("table_words.paid"))
AUXILIARIES = frozenset(words("table_words.auxiliaries"))
SPELLED = re.compile(rf"\b(than|least|most|over|under) {NUMBER_WORDS}")
COMPARISONS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    **dict.fromkeys(words("limits.greater"), gt),
    **dict.fromkeys(words("limits.less"), lt),
    **dict.fromkeys(words("limits.at_least"), ge),
    **dict.fromkeys(words("limits.at_most"), le),
}
LIMIT = pattern("limits.limit")
LARGEST = pattern("superlatives.largest")
SMALLEST = pattern("superlatives.smallest")
FIRST = pattern("ends.first")
LAST = pattern("ends.last")
AFTER = pattern("neighbours.after")
BEFORE = pattern("neighbours.before")
COUNT = pattern("counts.count")
SUM = pattern("sums.sum")
SPENT = pattern("sums.spent")
MEAN = pattern("means.mean")
DIFFERENCE = pattern("differences.difference")
NEGATION = pattern("negation.word")
WH = pattern("asked_column.after")
SEVERAL = pattern("asked_column.several")
YES_NO = pattern("cells_of_yes.yes_no")
CAPITAL = pattern("table_words.capital")
RANKS = pattern("table_words.ranks")


def meant_names(table: TableText, word: str) -> dict[str, int]:
    """The stems of the names that a word of a question means, numbered from the likeliest on."""
    names = [name for words, meant in MEANINGS.items() if word in words.split() for name in meant.split()]
    return {table.stem(name): number for number, name in reversed(list(enumerate(names)))}


@dataclass(frozen=True)
class Condition:
    """Rows that hold words of the question in a column.

    column: of the cells.
    tokens: positions of the words in the question.
    rows: that hold them.
    is_exact: the words are whole cells.
    exact: the rows in which they are.
    is_range: the rows go from that of one word to that of another, so their column may be asked for.
    """

    column: int
    tokens: frozenset[int]
    rows: frozenset[int]
    is_exact: bool
    exact: frozenset[int] = frozenset()
    is_range: bool = False


@dataclass(frozen=True)
class Mention:
    """A column that the question names.

    column: the column.
    tokens: positions of its words in the question.
    share: of the words of its name.
    strength: the sum of the strengths of the words, each 1 for a word of the name.
    """

    column: int
    tokens: frozenset[int]
    share: float
    strength: float


class Question:
    """A question as words, as it is asked of a table. Limits are written in one way.

    `mentions` are the columns that it names. `around` are the positions of the words that the context of the
    table has, and no operation.
    """

    def __init__(
        self,
        text: str,
        table: TableText,
        context: Collection[str] = (),
    ) -> None:
        self.table = table
        self.capitals = {word.lower() for word in CAPITAL.findall(text)}.difference(text.split())
        self.text = text.lower().replace("’", "'")
        self.text = SPELLED.sub(lambda match: f"{match[1]} {spelled(match['words'])}", self.text)
        self.tokens = table.analyzer.tokens(self.text)
        self.words = [token.word for token in self.tokens]
        self.stems = [table.stem(word) for word in self.words]
        operators = OPERATORS if LIMIT.search(self.text) else OPERATORS - {"under", "over"}
        silent = STOP_WORDS - operators - {"until", "till"}
        self.content = {i for i, word in enumerate(self.words) if word not in silent}
        self.around = {i for i in self.content if self.stems[i] in context and self.words[i] not in OPERATORS}
        self.named = self._named()
        self.mentions = list(self._mentions())

    def meets_table(self) -> bool:
        """True if a word of the question names a column or begins a word of a cell."""
        stems = {self.stems[i] for i in self.content if self.words[i] not in OPERATORS}
        return any(self.named) or any(next(self.table.places(stem), None) for stem in stems)

    def _named(self) -> list[dict[int, float]]:
        """How strongly the words name each column, by position: 1 for a word of its name, else MEANT."""
        meant = {i: meant_names(self.table, self.words[i]) for i in self.content}
        named: list[dict[int, float]] = []
        for column, name in enumerate(self.table.names):
            strengths = {}
            for i in sorted(self.content):
                stem = self.stems[i]
                is_part = len(stem) >= MIN_PART and any(stem in word for word in name)
                is_short = any(
                    MIN_PART <= len(word) + 1 < len(self.words[i]) and self.words[i].startswith(word)
                    for word in name
                )
                if stem in name or is_short:  # such as "max" for "maximum"
                    strengths[i] = 1.0
                elif not name or self.words[i] in OPERATORS:
                    continue
                elif is_part or (meant[i].keys() & set(name) and self._may_name(i, column)):
                    strengths[i] = MEANT
            named.append(strengths)
        return named

    def _may_name(self, i: int, column: int) -> bool:
        """False where a word such as "cost" asks for another kind of column, or for a manner."""
        is_manner = self.words[-1] == "for" or (self.words[0] == "how" and self.words[1] in AUXILIARIES)
        if is_manner and self.stems[i] in PAID:
            return False
        kinds = KINDS.get(self.words[i], ())
        return not kinds or self.table.kinds[column] in (*kinds, "number")

    def _mentions(self) -> Iterator[Mention]:
        for column, strengths in enumerate(self.named):
            if strengths:
                name = self.table.analyzer.tokens(self.table.columns[column])
                n_words = len({token.word for token in name} - STOP_WORDS) or 1
                by_stem = {self.stems[i]: strength for i, strength in strengths.items()}
                best = max(by_stem.values())
                share = max(sum(by_stem.values()) / n_words, 0.7 * best if best < 1 else 0.0)
                yield Mention(column, frozenset(strengths), min(1.0, share), sum(strengths.values()))

    def weight(self, i: int, explained: Collection[int], cells: Collection[int]) -> float:
        """How much a word asks for: an operator or a name or number most.

        `cells` are the positions of the words that are whole cells.
        """
        word = self.words[i]
        if word in OPERATORS:
            return 2.0
        if word in self.capitals or word[0].isdecimal():
            return 1.5
        if i - 1 in self.content and i - 1 in explained:
            return 0.6  # such as "life" in "battery life"
        if i + 1 in cells:
            return 0.5  # such as "president" in "president Carter"
        return 0.4

    def within(self, match: re.Match[str]) -> frozenset[int]:
        """The positions of the words in a match."""
        start, end = match.span()
        return frozenset(i for i, token in enumerate(self.tokens) if token.start < end and token.end > start)

    def following(self, match: re.Match[str]) -> int:
        """The position of the word after a match."""
        return next((i for i, token in enumerate(self.tokens) if token.end > match.end()), len(self.words))


def find_conditions(question: Question) -> list[Condition]:
    """The runs of words that cells hold, with the rows for each column; none of them is part of a limit.

    If the question counts, cells that are the run and cells that hold it are the same.
    """
    table = question.table
    limits = {i for match in LIMIT.finditer(question.text) for i in question.within(match)}
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
    is_count = COUNT.search(question.text) is not None
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


def _dated(question: Question) -> Iterator[Condition]:
    """The rows of each date in the question, in each column of dates; of any year where it has none."""
    table = question.table
    for match in WRITTEN_DATE.finditer(question.text):
        date = parse_value(match[0])
        if not date or date == date.whole:
            continue
        for column in table.of_kinds((DATE,)):
            rows = frozenset(
                row
                for value, row in table.values(table.body, column)
                if date.number in (value.number, value.number % 10_000)
            )
            if rows:
                yield Condition(column, question.within(match), rows, True, rows)


def _runs(question: Question, cell: Sequence[str]) -> Iterator[tuple[range, bool]]:
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


def _answers_of(question: Question) -> list[Condition]:
    """The rows with yes, or no after a negation, in each column of yes and no that the question names."""
    if YES_NO.match(question.text):
        return []
    table = question.table
    negation = {i for match in NEGATION.finditer(question.text) for i in question.within(match)}
    asked = NO if negation else YES
    conditions = []
    for mention in question.mentions:
        if table.kinds[mention.column] == "yes-no" or (negation and mention.strength >= 1):
            rows = frozenset(r for r in table.body if table.rows[r][mention.column].lower() in asked)
            conditions.append(Condition(mention.column, mention.tokens | negation, rows, True, rows))
    return [condition for condition in conditions if condition.rows]


def readings(question: Question) -> Iterator[list[Condition]]:
    """The sets of conditions that the question may mean: one column for each run of words.

    A run that also names a column may be no condition; it is none if the cells only hold it.
    """
    by_run: dict[frozenset[int], dict[int, list[Condition]]] = defaultdict(dict)
    for condition in sorted(
        find_conditions(question) + list(_dated(question)) + _answers_of(question),
        key=lambda c: (-len(c.tokens & question.content), not c.is_exact, min(c.tokens), c.column),
    ):
        by_run[condition.tokens].setdefault(condition.column, [condition])
    options: list[list[list[Condition]]] = []
    taken: set[int] = set()
    for run, by_column in by_run.items():
        if not run & taken and len(options) < MAX_CONDITIONS:
            taken |= run
            choices = list(by_column.values())[:3]
            words = run & question.content
            strength = max(min(named.get(i, 0) for i in words) for named in question.named)
            is_sum = any(words <= question.within(match) for match in SUM.finditer(question.text))
            is_exact = any(condition.is_exact for [condition] in choices)
            if strength == 1 and not is_exact:
                choices = []
            options.append(choices if is_exact and strength < MEANT and not is_sum else [*choices, []])
    for chosen in islice(product(*options), MAX_READINGS):
        yield _with_ranges(question, list(chain.from_iterable(chosen)))


def _with_ranges(question: Question, conditions: list[Condition]) -> list[Condition]:
    """The conditions, of which those of a range, such as "from May to July" or "until May", are one."""
    whole = [condition for condition in conditions if len(condition.exact) == 1]
    for first in whole:
        start = min(first.tokens)
        before = question.words[start - 1] if start else ""
        if before in RANGE_ENDS:
            return _ranged(question, conditions, [first], {start - 1})
        for last in whole:
            middle = max(first.tokens) + 1
            joins = ("and",) if before == BETWEEN else RANGE_TO
            is_next = middle + 1 == min(last.tokens) and question.words[middle] in joins
            if is_next and last.column == first.column:
                begins = {start - 1} if before in RANGE_FROM else set()
                return _ranged(question, conditions, [first, last], {middle} | begins)
    return conditions


def _ranged(
    question: Question, conditions: Sequence[Condition], ends: Sequence[Condition], joins: Collection[int]
) -> list[Condition]:
    """The conditions with one for a range of rows instead of those of its ends; one end is the last row."""
    rows = [row for end in ends for row in end.exact]
    first = min(rows) if len(rows) > 1 else 0
    held = frozenset(question.table.is_body.intersection(range(first, max(rows) + 1)))
    tokens = frozenset(joins)
    for end in ends:
        tokens |= end.tokens
    others = [condition for condition in conditions if condition not in ends]
    return [Condition(ends[0].column, tokens, held, True, is_range=True), *others]
