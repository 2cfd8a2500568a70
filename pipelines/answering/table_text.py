"""A table as words and values: the texts of its cells, and a cell as a number, a date or a duration."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from itertools import accumulate

from spanwise.types import Table

from ...index.analysis import Analyzer, folded

DATE = "date"
DURATION = "s"
TIMES = (DATE, "year")
YEARS = range(1500, 2101)
YES = frozenset("yes y true ✓ ✔ ☒ ☑ included".split())
NO = frozenset("no n false ✗ ✘ ☐ none".split())
EMPTY = frozenset(["", "-", "–", "—", "?", "n/a", "N/A"])
DAYS = "mon tue wed thu fri sat sun".split()
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
MONEY = frozenset([*CURRENCIES.values(), *"CHF SEK NOK DKK PLN CZK CAD AUD INR".split()])
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9}
MARKS = re.compile(r"\[[^\[\]]{1,20}\]|[*_`†‡§^~]+")
NUMBER = re.compile(
    r"(?P<before>[^\w\s]{0,3}|[^\w\s]?[A-Z]{3})\s?"
    r"(?P<number>[0-9]{1,3}(?:[,\u00a0\u202f '][0-9]{3})+(?:\.[0-9]+)?|[0-9]*\.?[0-9]+)"
    r"(?![\w.:/–-]{0,40}[0-9])(?P<after>.{0,40})",
    re.S,
)
UNIT = re.compile(r"\s?([%°€$£¥]|(?!st\b|nd\b|rd\b|th\b)[A-Za-z]{1,12}[²³]?(?:/[A-Za-z]{1,10})?)")
MONTH = rf"(?P<month>{'|'.join(MONTHS)})[a-z]{{0,6}}\.?"
DAY = r"(?:[a-z]{3,9},? )?(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
YEAR = r"(?P<year>1[0-9]{3}|20[0-9]{2})"
DATES = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"{YEAR}-(?P<month>[01]?[0-9])-(?P<day>[0-3]?[0-9])(?:[T ].*)?",
        rf"{DAY} {MONTH},?(?: {YEAR})?",
        rf"{MONTH} {DAY}(?:,? {YEAR})?",
        rf"{MONTH},? {YEAR}",
        rf"(?P<day>[0-3]?[0-9])[./](?P<month>[01]?[0-9])[./]{YEAR}",
    )
]
CLOCK = re.compile(r"\+?(?:(?P<hours>[0-9]{1,3}):)?(?P<minutes>[0-9]{1,3}):(?P<s>[0-9]{2}(?:\.[0-9]+)?)")
DAY_NAMES = re.compile(r"\b(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?\b", re.I)
DAY_RANGE = re.compile(
    r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.? ?(?:-|–|to|until) ?(mon|tue|wed|thu|fri|sat|sun)", re.I
)
TOTALS = re.compile(r"(?:[a-z]+ )?(?:sub)?totals?|average|sum|mean|overall", re.I)
SAMPLE = 200  # rows by which the kind of a column is known
UNIT_ROWS = 5  # rows by which the unit of a column is known
MAX_CELL = 100  # characters of a cell that is looked up; a longer one is prose
MAX_TOTAL = 30  # characters of the name of a total
MIN_BEGINNING = 3  # characters of a word
DISTINCT = 0.8  # the share of different cells in a column of names


@dataclass(frozen=True, slots=True)
class Value:
    """What a cell says.

    number: the amount; of a date its year, month and day as 19550820, of a duration seconds.
    unit: such as "EUR", "km", "%", DATE, DURATION; "" without one.
    """

    number: Decimal
    unit: str = ""

    @property
    def amount(self) -> Decimal:
        """The number; of a date the year."""
        return self.number // 10_000 if self.unit == DATE else self.number

    @property
    def kind(self) -> str:
        """The kind of value: a date, a duration, a year, money or another number."""
        if self.unit in (DATE, DURATION):
            return self.unit
        if self.unit in MONEY:
            return "money"
        return "year" if not self.unit and self.number in YEARS else "number"


def parse_value(text: str) -> Value | None:
    """The value of a cell; None for words.

    >>> [str(parse_value(cell).number) for cell in ("€1,249.50", "(1,250)", "20 August 1955", "1:05")]
    ['1249.50', '-1250', '19550820', '65']
    """
    shown = MARKS.sub("", text).strip()
    for pattern in DATES:
        if match := pattern.fullmatch(shown):
            return _date(**match.groupdict())
    if match := CLOCK.fullmatch(shown):
        minutes = int(match["hours"] or 0) * 60 + int(match["minutes"])
        return Value(minutes * 60 + Decimal(match["s"]), DURATION)
    match = NUMBER.fullmatch(shown)
    return _number(match["before"], match["number"], match["after"]) if match else None


def _date(month: str, year: str | None = None, day: str | None = None) -> Value:
    number = MONTHS.index(month[:3].lower()) + 1 if month.isalpha() else int(month)
    return Value(Decimal(int(year or 0) * 10_000 + number * 100 + int(day or 0)), DATE)


def _number(before: str, digits: str, after: str) -> Value:
    number = Decimal(re.sub(r"[^0-9.]", "", digits))
    if before[:1] in ("-", "−", "–") or (before.startswith("(") and after.strip() == ")"):
        number = -number
    unit = UNIT.match(after)
    name = unit[1] if unit else before.strip("(-−–+. ")
    if scale := SCALES.get(name.lower()):
        return Value(number * scale)
    name = CURRENCIES.get(name, name)
    return Value(number, name if unit or name in MONEY else "")


def common_unit(values: Iterable[Value]) -> str | None:
    """The unit that all values share; None where they differ.

    >>> common_unit([Value(Decimal(2), "EUR"), Value(Decimal(3), "USD")]) is None
    True
    """
    units = {value.unit for value in values}
    named = units - {""}
    if len(named) > 1 or (len(units) > 1 and named & {DATE, *MONEY}):
        return None
    return next(iter(named), "")


class TableText:
    """The words and the values of the rows of a table, without its header; `heading` are those above it."""

    def __init__(self, text: str, table: Table, analyzer: Analyzer, heading: Sequence[str] = ()) -> None:
        self.heading = heading
        self.start = table.start
        self.end = table.end
        self.columns = table.columns
        self.is_whole = table.is_whole
        self.analyzer = analyzer
        self.bounds = table.rows[table.n_headers :]
        self.rows = [[_words(text[start:end]) for start, end in row] for row in self.bounds]
        self._value = cache(parse_value)
        self._of_body: dict[int, list[tuple[Value, int]]] = {}
        self.names = [[*self.stems(name), *self._units(c)] for c, name in enumerate(table.columns)]

    def stems(self, text: str) -> list[str]:
        """The stems of a text, with those of function words."""
        return [self.stem(token.word) for token in self.analyzer.tokens(with_days(text))]

    def stem(self, word: str) -> str:
        """The stem of a word; of a day of the week its first three letters."""
        return word[:3] if DAY_NAMES.fullmatch(word) else self.analyzer.term(word)

    def _units(self, column: int) -> list[str]:
        """The unit of the first value of a column, if it has one."""
        values = filter(None, (self._value(row[column]) for row in self.rows[:UNIT_ROWS]))
        units = [value.unit.lower() for value in values if value.unit not in ("", DATE, DURATION)]
        return [self.stem(unit) for unit in units[:1]]

    def values(self, rows: Iterable[int], column: int) -> list[tuple[Value, int]]:
        """The values of a column with their rows, without words; those of the whole body are kept."""
        if rows is self.body and column in self._of_body:
            return self._of_body[column]
        values = [(value, row) for row in rows if (value := self._value(self.rows[row][column]))]
        if rows is self.body:
            self._of_body[column] = values
        return values

    def numbers(self, rows: Collection[int], column: int) -> list[tuple[Decimal, int]]:
        """The numbers of a column with their rows; none where their units differ or most cells have none."""
        values = self.values(rows, column)
        if len(values) * 2 < len(rows) or common_unit(value for value, _ in values) is None:
            return []
        return [(value.number, row) for value, row in values]

    def places(self, stem: str) -> Iterator[tuple[int, int]]:
        """Row and column of each word that begins as a stem does; it may have another stem."""
        is_number = stem.isdecimal()
        word = re.escape(stem if is_number else stem[: max(MIN_BEGINNING, len(stem) - 1)])
        end = r"(?![^\W_])" if is_number else ""
        starts, text = self._folded
        for match in re.finditer(rf"{word}(?<![^\W_]{word}){end}", text):
            yield divmod(bisect_right(starts, match.start()) - 1, len(self.columns))

    @cached_property
    def _folded(self) -> tuple[list[int], str]:
        """The folded texts of all cells, one per line, and the place of each."""
        cells = (cell if len(cell) <= MAX_CELL else "" for row in self.rows for cell in row)
        lines = [folded(with_days(cell)).replace("\n", " ") for cell in cells]
        return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=1)), "\n" + "\n".join(lines)

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each column by most of its cells: that of a value, "yes-no", "words" or "prose"."""
        kinds = []
        for column in range(len(self.columns)):
            counts: Counter[str] = Counter()
            for row in self.rows[:SAMPLE]:
                if row[column] not in EMPTY:
                    value = self._value(row[column])
                    is_yes_no = row[column].lower() in YES | NO
                    words = "words" if len(row[column]) <= MAX_CELL else "prose"
                    counts[value.kind if value else "yes-no" if is_yes_no else words] += 1
            if not any(row[column].lower() in YES for row in self.rows[:SAMPLE]):
                counts["words"] += counts.pop("yes-no", 0)
            kinds.append(max(counts, key=counts.__getitem__, default="words"))
        return kinds

    def of_kinds(self, kinds: Collection[str]) -> list[int]:
        """The columns of some kinds."""
        return [column for column, kind in enumerate(self.kinds) if kind in kinds]

    @cached_property
    def body(self) -> list[int]:
        """The rows without those of totals."""
        totals = {
            cell for row in self.rows for cell in row if len(cell) <= MAX_TOTAL and TOTALS.fullmatch(cell)
        }
        return [number for number, row in enumerate(self.rows) if totals.isdisjoint(row)]

    @cached_property
    def is_body(self) -> frozenset[int]:
        """The same rows as a set."""
        return frozenset(self.body)

    @cached_property
    def main(self) -> int:
        """The column that names the rows: the first one of words that differ, else the first of words."""
        words = self.of_kinds(("words",))
        for column in words:
            if len({row[column] for row in self.rows}) >= DISTINCT * len(self.rows):
                return column
        return words[0] if words else 0

    @cached_property
    def is_descending(self) -> bool:
        """True if the rows go back in time."""
        numbers = [n for column in self.of_kinds(TIMES)[:1] for n, _ in self.numbers(self.body, column)]
        return numbers != sorted(numbers) and numbers == sorted(numbers, reverse=True)


def with_days(text: str) -> str:
    """The text, followed by the days of the week that a range in it holds.

    >>> with_days("Mon-Wed 9:00")
    'Mon-Wed 9:00 mon tue wed'
    """
    match = DAY_RANGE.search(text)
    if match is None:
        return text
    first, last = (DAYS.index(day.lower()) for day in match.groups())
    days = DAYS[first : last + 1] if first <= last else DAYS[first:] + DAYS[: last + 1]
    if days == DAYS[:5]:
        days = [*days, "weekday"]
    return " ".join([text, *days])


def _words(cell: str) -> str:
    """The words of a cell: its first line, where the next one begins with a bracket."""
    words = cell.strip().replace('\\"', '"').replace('""', '"')
    first, _, rest = words.partition("\n")
    return first if rest.startswith("(") else words
