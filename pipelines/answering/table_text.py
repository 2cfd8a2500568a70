"""A table as words and values: the texts of its cells, and their numbers, dates and durations."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, cached_property
from itertools import accumulate

from spanwise.types import Table

from ...eval.quantities import DATE, DURATION, TIMES, WEEKDAY, Value, common_unit, parse_value, with_days
from ...index.analysis import Analyzer, folded
from ..understanding.patterns import pattern

YES = frozenset("yes y true ✓ ✔ ☒ ☑ included".split())
NO = frozenset("no n false ✗ ✘ ☐ none".split())
EMPTY = frozenset(["", "-", "–", "—", "?", "n/a", "N/A"])
NUMERIC = ("number", "money", DURATION)
ORDERED = (*NUMERIC, *TIMES)
RANKS = pattern("table_words.ranks")
TOTALS = re.compile(r"(?:[a-z]+ )?(?:sub)?totals?|average|sum|mean|overall", re.I)
NAMED_TOTAL = re.compile(r"\b(?:(?:sub-?)?totals?|average|sum|mean|overall)\b", re.I)
CODE = re.compile(r"(?:[A-Za-z]{0,3}[-./ ]?[0-9]+[a-z]?)?")
DECIMAL_COMMA = re.compile(r"\D*(?:[0-9]{1,3}(?:[. ][0-9]{3})+|[0-9]+),[0-9]{1,2}\D*")
DECIMAL_POINT = re.compile(r"\D*(?:[0-9]{1,3}(?:[, ][0-9]{3})+|[0-9]+)\.[0-9]{1,2}\D*")
THOUSANDS = re.compile(r",[0-9]{3}\b")
SWAPPED = str.maketrans(",.", ".,")
SAMPLE = 200  # rows by which the kind of a column is known
UNIT_ROWS = 5  # rows by which the unit of a column is known
MAX_CELL = 100  # characters of a cell that is looked up; a longer one is prose
MAX_TOTAL = 30  # characters of the name of a total
MIN_BEGINNING = 3  # characters of a word
DISTINCT = 0.8  # the share of different cells in a column of names


class TableText:
    """The words and the values of the rows of a table, without its header.

    `heading` are the headings above it, `hidden` the places of cells that a program does not show.
    """

    def __init__(
        self,
        text: str,
        table: Table,
        analyzer: Analyzer,
        heading: Sequence[str] = (),
        hidden: Collection[int] = (),
    ) -> None:
        self.heading = heading
        self.hidden = hidden
        self.start = table.start
        self.end = table.end
        self.columns = table.columns
        self.is_whole = table.is_whole
        self.analyzer = analyzer
        self.bounds = table.rows[table.n_headers :]
        self.rows = [[_words(text[start:end]) for start, end in row] for row in self.bounds]
        self.has_labels = bool(table.labels)
        for row, label in zip(self.rows, table.labels, strict=False):
            row[0] = f"{label} {row[0]}".strip()
        self._parsed = cache(parse_value)
        self._of_body: dict[int, list[tuple[Value, int]]] = {}
        self._orders: dict[int, Mapping[int, Decimal]] = {}
        self.names = [[*self.stems(name), *self._units(c)] for c, name in enumerate(table.columns)]

    def stems(self, text: str) -> list[str]:
        """The stems of a text, with those of function words."""
        return [self.stem(token.word) for token in self.analyzer.tokens(with_days(text))]

    def stem(self, word: str) -> str:
        """The stem of a word; of a day of the week its first three letters."""
        return word[:3] if WEEKDAY.fullmatch(word) else self.analyzer.term(word)

    def _units(self, column: int) -> list[str]:
        """The unit of the first value of a column, if it has one."""
        values = filter(None, (self._value(row, column) for row in self.rows[:UNIT_ROWS]))
        units = [value.unit.lower() for value in values if value.unit not in ("", DATE, DURATION)]
        return [self.stem(unit) for unit in units[:1]]

    def record(self, row: int) -> tuple[str, list[tuple[int, int, int]]]:
        """A row as sentences with the names of its columns; column, start and end of each filled cell.

        Of a setting only the value, after its key.
        """
        if self.has_labels:
            key, value = self.rows[row]
            return f"{key}: {value}.", [(1, len(key) + 2, len(key) + 2 + len(value))]
        text = ""
        bounds = []
        for column, (name, cell) in enumerate(zip(self.columns, self.rows[row], strict=True)):
            if cell:
                start = len(text) + len(name) + 2
                bounds.append((column, start, start + len(cell)))
                text += f"{name}: {cell}. "
        return text, bounds

    def values(self, rows: Iterable[int], column: int) -> list[tuple[Value, int]]:
        """The values of a column with their rows, without words; those of the whole body are kept."""
        if rows is self.body and column in self._of_body:
            return self._of_body[column]
        values = [(value, row) for row in rows if (value := self._value(self.rows[row], column))]
        if rows is self.body:
            self._of_body[column] = values
        return values

    def _value(self, row: Sequence[str], column: int) -> Value | None:
        """The value of a cell, in the notation of its column."""
        return self._parsed(row[column].translate(SWAPPED) if column in self._with_commas else row[column])

    def limit(self, written: str, column: int) -> Decimal | None:
        """A number of a question in the notation of a column; a comma before three digits has its own."""
        is_swapped = column in self._with_commas and not THOUSANDS.search(written)
        value = self._parsed(written.translate(SWAPPED) if is_swapped else written)
        return value.number if value else None

    @cached_property
    def _with_commas(self) -> set[int]:
        """The columns whose numbers have decimal commas: some cells have one, and none a decimal point."""
        cells = {column: [row[column] for row in self.rows] for column in range(len(self.columns))}
        return {
            column
            for column, texts in cells.items()
            if any(map(DECIMAL_COMMA.fullmatch, texts)) and not any(map(DECIMAL_POINT.fullmatch, texts))
        }

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
                    value = self._value(row, column)
                    is_yes_no = row[column].lower() in YES | NO
                    words = "words" if len(row[column]) <= MAX_CELL else "prose"
                    counts[value.kind if value else "yes-no" if is_yes_no else words] += 1
            if not any(row[column].lower() in YES for row in self.rows[:SAMPLE]):
                counts["words"] += counts.pop("yes-no", 0)
            kinds.append(max(counts, key=counts.__getitem__, default="words"))
        return kinds

    def numbers_rows(self, column: int) -> bool:
        """True for a column of ranks, years or ids by its name, and of whole numbers that count the rows."""
        if RANKS.search(self.columns[column]):
            return True
        numbers = [value.number for value, _ in self.values(self.body, column) if not value.unit]
        first = int(numbers[0]) if numbers else 0
        return len(numbers) > 2 and numbers == [*range(first, first + len(self.body))]

    def order(self, column: int) -> Mapping[int, Decimal]:
        """The place of each row: by the value of its cell in a column of numbers or times, else as listed."""
        if column not in self._orders:
            listed = reversed(self.body) if self.is_descending else self.body
            values = {row: value.number for value, row in self.values(self.body, column)}
            places = {row: Decimal(number) for number, row in enumerate(listed)}
            self._orders[column] = values if self.kinds[column] in ORDERED else places
        return self._orders[column]

    def of_kinds(self, kinds: Collection[str]) -> list[int]:
        """The columns of some kinds."""
        return [column for column, kind in enumerate(self.kinds) if kind in kinds]

    @cached_property
    def body(self) -> list[int]:
        """The rows without those of totals, hidden ones, and the names of groups, alone in their rows."""
        has_groups = len(self.columns) > 2
        body: list[int] = []
        part: list[int] = []  # the rows since the last total or name of a group
        for number, row in enumerate(self.rows):
            is_group = has_groups and row[0] and not any(row[1:])
            if is_group or self._is_total(row, part, body):
                part = []
            elif not self._is_hidden(number):
                body.append(number)
                part.append(number)
        return body

    def _is_total(self, row: Sequence[str], part: Sequence[int], body: Sequence[int]) -> bool:
        """True for a row that is called a total, or names one and is the sum of the rows above it.

        These are the rows of its part, or of the whole body so far.
        """
        if not NAMED_TOTAL.search("\n".join(row)):
            return False
        texts = [cell for cell in row if len(cell) <= MAX_TOTAL and NAMED_TOTAL.search(cell)]
        if any(map(TOTALS.fullmatch, texts)):
            return True
        return bool(texts) and (self._sums_up(row, part) or self._sums_up(row, body))

    def _sums_up(self, row: Sequence[str], rows: Sequence[int]) -> bool:
        """True if a row has the sum of several others in a column of numbers."""
        for column in self.of_kinds(NUMERIC):
            total = self._value(row, column)
            values = [self._value(self.rows[number], column) for number in rows]
            if total and len(rows) > 1 and total.number == sum(value.number for value in values if value):
                return True
        return False

    def _is_hidden(self, row: int) -> bool:
        """True for a row whose cells are all hidden."""
        filled = [start for start, end in self.bounds[row] if end > start]
        return bool(filled) and all(start in self.hidden for start in filled)

    @cached_property
    def is_body(self) -> frozenset[int]:
        """The same rows as a set."""
        return frozenset(self.body)

    @cached_property
    def main(self) -> int:
        """The column that names the rows: the first one of words that differ.

        Else the first column if all of its cells differ, else the first one of words. A column of codes such
        as "T1" has words only if no other has.
        """
        columns = self.of_kinds(("words",))
        words = [c for c in columns if not all(CODE.fullmatch(row[c]) for row in self.rows)] or columns
        for column in words:
            if len({row[column] for row in self.rows}) >= DISTINCT * len(self.rows):
                return column
        is_key = len({row[0] for row in self.rows}) == len(self.rows)
        return words[0] if words and not is_key else 0

    @cached_property
    def is_descending(self) -> bool:
        """True if the rows go back in time."""
        numbers = [n for column in self.of_kinds(TIMES)[:1] for n, _ in self.numbers(self.body, column)]
        return numbers != sorted(numbers) and numbers == sorted(numbers, reverse=True)


def _words(cell: str) -> str:
    """The words of a cell: its first line, where the next one begins with a bracket."""
    words = cell.strip().replace('\\"', '"').replace('""', '"')
    first, _, rest = words.partition("\n")
    return first if rest.startswith("(") else words
