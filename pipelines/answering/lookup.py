"""Looks answers up in tables: rows by the words of the question, a column by its name, then an operation.

A word of the question is explained by a cell that holds it, by the name of a column, or by the operation. A
question with too many unexplained words is declined: it asks for something that the table does not say.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from spanwise.types import Bounds, Table

from ...index.analysis import STOP_WORDS, Analyzer
from .table_values import DATE, DURATION, MONEY, Value, common_unit, parse_value

SAMPLE = 200  # rows by which the kind of a column is known
MAX_CONDITIONS = 5
MAX_DISTANCE = 3  # words between a name of several words

WHO = "name player winner driver rider person athlete candidate artist author president champion competitor"
KINDS_OF_NAMES = {
    "who": f"{WHO} coach actor director opponent member pilot swimmer skater cyclist singer",
    "when": "date year season time day month",
    "where": "location venue place city country town stadium site region",
    "cost": "price cost fee fare rate amount total",
}
LIGHT = frozenset(
    "list listed table include includ cost allow come offer support have has get got make made give given "
    "name named call called number amount value show shown hold held take taken happen occur use used "
    "part one ones per each all total there many much long far old tall high big please tell s t column row "
    "medal only chart roster person peopl people overall competitor be play played record compet particip receiv achiev earn win won place finish serv score".split()
)
# What is asked of the rows; the word after it may name the column.
LARGEST = re.compile(
    r"(?<!\bat )\b(?:the |has |had |have |with |was )*(?:most|highest|largest|biggest|greatest|longest|best|maximum|tallest|"
    r"fastest time|heaviest|latest|newest|youngest|deepest|priciest|most expensive|max)\b"
)
SMALLEST = re.compile(
    r"(?<!\bat )\b(?:the |has |had |have |with |was )*(?:least|lowest|smallest|shortest|fewest|minimum|cheapest|worst|"
    r"earliest|oldest|lightest|slowest|fastest|least expensive|min)\b"
)
FIRST = re.compile(r"\b(?:first|top)\b(?: (?:listed|in the (?:list|table|chart)|on the (?:list|table|chart)))?")
LAST = re.compile(r"\b(?:last|bottom|final)\b(?: (?:listed|in the (?:list|table|chart)|on the (?:list|table|chart)))?")
AFTER = re.compile(
    r"\b(?:came |comes |come |is |was |listed |immediately |directly |right |next |ranked |won |finished )*"
    r"(?:next (?:[a-z]+ ){0,3}?(?=after))?(?:after|following|follows|followed|next after|succeeded|below|just after|next to)\b"
)
BEFORE = re.compile(
    r"\b(?:came |comes |come |is |was |listed |immediately |directly |right |ranked |won |finished )*"
    r"(?:before|prior to|previous to|preceding|precedes|preceded|above|just before)\b"
)
COUNT = re.compile(r"\b(?:how many|(?:what is |what was )?(?:the )?(?:total )?number of|count of)\b(?: times| different)?")
SUM = re.compile(r"\b(?:total|combined|altogether|in all|sum of|in total|all together)\b(?: (?:number|amount) of)?")
MEAN = re.compile(r"\b(?:average|mean)\b(?: number of)?")
DIFFERENCE = re.compile(
    r"\bhow (?:many|much) (?P<word>more|fewer|less|longer|higher|larger|greater)\b|\bdifference\b(?: in| of| between)?|\bdiffer\b"
)
LIMITS = re.compile(
    r"\b(?:(?P<more>more than|over|above|greater than|larger than|higher than|longer than|exceed(?:s|ed|ing)?|after)"
    r"|(?P<least>at least|no less than|a minimum of)|(?P<less>less than|under|below|fewer than|lower than|shorter than|before)"
    r"|(?P<most>at most|no more than|up to))"
    r" (?:the |a )?[$€£]?(?P<number>[0-9][0-9,.]*[0-9]|[0-9]|two|three|four|five|six|seven|eight|nine|ten)"
    r"(?P<unit> ?(?:%|percent|million|thousand|billion)?)"
)
OR_MORE = re.compile(r"\b(?P<number>[0-9][0-9,.]*) or (?P<sign>more|less|fewer|higher|lower|above|below)\b")
WORD_NUMBERS = {word: n for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}
BETWEEN = re.compile(r"\b(?:between|from) (?P<low>[0-9]{4}) (?:and|to|until) (?P<high>[0-9]{4})\b|\b(?P<low2>[0-9]{4}) ?[-–] ?(?P<high2>[0-9]{4})\b")
DECLINED = re.compile(r"\bsame\b|\bmore(?: or |/)less\b|\bconsecutive\b|\bin a row\b|\bpercent(?:age)? of\b")
TOTALS = re.compile(r"(?:[a-z]+ )?(?:sub)?totals?|average|sum|mean|overall", re.I)
NEGATION = re.compile(r"\b(?:not|never|without|no|n't|didn't|doesn't|don't|isn't|wasn't|except|excluding|besides|other than)\b")
WH = re.compile(r"\b(?:which|what|whose)\b(?: (?:is|was|are|were) the (?:name|title|number) of)?(?: the)?(?: one)?")
EMPTY = ("", "-", "–", "—", "?", "n/a", "N/A")
RANKS = re.compile(r"#|\b(?:rank|pos(?:ition)?|nos?|numbers?|year|id|place|grid|lane|draw)\b", re.I)
HEAVY = frozenset(
    "average next better best worst combined highest lowest largest smallest longest shortest most least first last "
    "longer previous represented".split()
)
AUXILIARY = frozenset("is are was were be do does did has have had can could will would should".split())
# Function words that change what is asked: an operation has to explain them.
OPERATORS = frozenset(
    "after before below above most more less fewer than between other both under over only once".split()
)
ADJECTIVES = {
    "tallest": "height elevation", "highest": "height elevation", "heaviest": "weight", "lightest": "weight",
    "longest": "length distance duration time long", "shortest": "length distance duration time height",
    "largest": "area size population", "biggest": "area size population", "smallest": "area size population",
    "fastest": "time speed", "slowest": "time speed", "deepest": "depth", "cheapest": "price cost fee",
    "expensive": "price cost fee", "priciest": "price cost fee", "oldest": "birth born age built founded",
    "youngest": "birth born age", "earliest": "date year", "latest": "date year", "newest": "date year built",
}  # fmt: skip
YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can)\b")
COMPARATIVE = re.compile(
    r"\b(?P<up>more|higher|larger|bigger|greater|longer|better|older(?= than)|later|taller|most|heavier|faster)\b|"
    r"\b(?P<down>less|fewer|lower|smaller|shorter|earlier|first|cheaper|lighter|least|sooner|older|worse)\b"
)


def shown(cell: str) -> str:
    """The words of a cell: its first line, where the next one begins with a bracket."""
    cell = cell.strip().replace('\\"', '"')
    first, _, rest = cell.partition("\n")
    return first if rest.startswith("(") else cell


class TableText:
    """A table with the words and the values of its cells."""

    def __init__(self, text: str, table: Table, analyzer: Analyzer) -> None:
        self.table = table
        self.analyzer = analyzer
        self.bounds: list[list[Bounds]] = table.cells[table.n_headers :].tolist()
        self.rows = [[shown(text[start:end]) for start, end in row] for row in self.bounds]
        self.columns = table.columns
        self.names = [self.stems(name) for name in table.columns]
        self._values: dict[str, Value | None] = {}

    def stems(self, text: str) -> list[str]:
        """The stems of a text, with stop words."""
        return [self.analyzer.term(token.word) for token in self.analyzer.tokens(text)]

    @cached_property
    def postings(self) -> dict[str, list[tuple[int, int]]]:
        """Row and column of each cell that holds a stem."""
        places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for r, row in enumerate(self.rows):
            for c, cell in enumerate(row):
                for stem in set(self.stems(cell)):
                    places[stem].append((r, c))
        return places

    def value(self, r: int, c: int) -> Value | None:
        """The value of a cell."""
        cell = self.rows[r][c]
        if cell not in self._values:
            self._values[cell] = parse_value(cell)
        return self._values[cell]

    def kind(self, c: int) -> str:
        """"number", "date", "duration", "money" or "words", by most cells of a column."""
        kinds: Counter[str] = Counter()
        for r in range(min(len(self.rows), SAMPLE)):
            cell = self.rows[r][c]
            if cell in EMPTY:
                continue
            value = self.value(r, c)
            kinds[_kind(value)] += 1
        return kinds.most_common(1)[0][0] if kinds else "words"

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each column."""
        return [self.kind(c) for c in range(len(self.columns))]

    @cached_property
    def main(self) -> int:
        """The column that names the rows: the first one with distinct words, else the first."""
        best = 0
        for c, kind in enumerate(self.kinds):
            cells = [row[c] for row in self.rows if row[c]]
            if kind == "words" and len(set(cells)) * 10 >= len(self.rows) * 8:
                return c
        for c, kind in enumerate(self.kinds):
            if kind == "words":
                return c
        return best


    @cached_property
    def body(self) -> list[int]:
        """The rows without those of totals."""
        return [r for r, row in enumerate(self.rows) if not any(map(TOTALS.fullmatch, row))]

    @cached_property
    def is_descending(self) -> bool:
        """True if the rows go back in time."""
        for c, kind in enumerate(self.kinds):
            if kind in ("date", "year"):
                numbers = [v.number for r in self.body if (v := self.value(r, c))]
                return len(numbers) > 1 and numbers[0] > numbers[-1] and numbers == sorted(numbers, reverse=True)
        return False


def _kind(value: Value | None) -> str:
    if value is None:
        return "words"
    if value.unit == DATE:
        return "date"
    if value.unit == DURATION:
        return "duration"
    if value.unit in MONEY:
        return "money"
    if not value.unit and 1500 <= value.number <= 2100 and value.number == int(value.number):
        return "year"
    return "number"


@dataclass(frozen=True)
class Condition:
    """Rows that hold words of the question in a column.

    column: of the cells.
    tokens: positions of the words in the question.
    rows: that hold them.
    is_exact: the words are whole cells.
    """

    column: int
    tokens: frozenset[int]
    rows: frozenset[int]
    is_exact: bool


@dataclass(frozen=True)
class Mention:
    """A column that the question names.

    column: the column.
    tokens: positions of its words in the question.
    share: of the words of its name.
    """

    column: int
    tokens: frozenset[int]
    share: float


@dataclass
class Result:
    """What a question gets from a table.

    operation: such as "look up".
    cells: row and column of the cells that answer or are computed with.
    values: the words of the answer.
    unexplained: words of the question that nothing explains.
    score: higher is better.
    """

    operation: str
    cells: list[tuple[int, int]]
    values: list[str]
    unexplained: list[str]
    score: float
    doubt: float = 0.0


class Question:
    """The words of a question."""

    def __init__(self, text: str, table: TableText) -> None:
        self.text = text.lower().replace("’", "'")
        self.tokens = table.analyzer.tokens(self.text)
        self.words = [token.word for token in self.tokens]
        self.stems = [table.analyzer.term(word) for word in self.words]
        self.content = [
            i for i, word in enumerate(self.words) if word not in STOP_WORDS or word in OPERATORS
        ]

    def within(self, start: int, end: int) -> frozenset[int]:
        """The tokens between two characters."""
        return frozenset(i for i, t in enumerate(self.tokens) if t.start < end and t.end > start)


def find_conditions(question: Question, table: TableText) -> list[Condition]:
    """All runs of words that cells hold, the best column and cells for each run."""
    cells: dict[tuple[int, int], None] = {}
    for i in question.content:
        for place in table.postings.get(question.stems[i], ()):
            cells[place] = None
    groups: dict[tuple[int, int, int, bool], set[int]] = defaultdict(set)
    runs: dict[str, list[tuple[int, int, bool]]] = {}
    for r, c in cells:
        text = table.rows[r][c]
        if text not in runs:
            runs[text] = list(_runs(question, table.stems(text)))
        for first, last, is_exact in runs[text]:
            groups[c, first, last, is_exact].add(r)
    return [
        Condition(c, frozenset(range(first, last)), frozenset(rows), is_exact)
        for (c, first, last, is_exact), rows in groups.items()
    ]


def _runs(question: Question, cell: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """The longest run of the question's words in a cell from each place, and whether it is the whole cell."""
    stems = question.stems
    best: list[tuple[int, int, bool]] = []
    for i in range(len(stems)):
        for j in range(len(cell)):
            n = 0
            while i + n < len(stems) and j + n < len(cell) and stems[i + n] == cell[j + n]:
                n += 1
            if n and any(question.words[k] not in STOP_WORDS for k in range(i, i + n)):
                while question.words[i + n - 1] in STOP_WORDS and n < len(cell):
                    n -= 1
                if question.words[i] in STOP_WORDS and n < len(cell):
                    continue
                best.append((i, i + n, n == len(cell)))
    best.sort(key=lambda run: (run[0] - run[1], run[0]))
    taken: set[int] = set()
    for first, last, is_exact in best:
        if not taken & set(range(first, last)):
            taken |= set(range(first, last))
            yield first, last, is_exact


def loose(condition: Condition, conditions: Iterable[Condition]) -> frozenset[int]:
    """The rows whose cells hold the words, whether they are the whole cell or a part."""
    same = [c.rows for c in conditions if c.column == condition.column and c.tokens == condition.tokens]
    return frozenset().union(*same)


def find_mentions(question: Question, table: TableText) -> list[Mention]:
    """The columns that the question names, with the words that name them."""
    mentions = []
    for c, names in enumerate(table.names):
        content = [stem for stem, word in zip(names, names, strict=True) if word not in STOP_WORDS] or names
        tokens = {i for i in question.content if question.stems[i] in content}
        if not tokens and len(names) == 1 and names[0] in question.stems:
            tokens = {question.stems.index(names[0])}
        if tokens:
            covered = len({question.stems[i] for i in tokens})
            mentions.append(Mention(c, frozenset(tokens), covered / len(set(content))))
    return mentions


class Parse:
    """One reading of a question against a table: conditions, and what they leave to explain."""

    def __init__(
        self, question: Question, table: TableText, conditions: Sequence[Condition], mentions: Sequence[Mention]
    ) -> None:
        self.q = question
        self.t = table
        self.conditions = list(conditions)
        self.used = frozenset(i for condition in conditions for i in condition.tokens)
        self.condition_columns = {condition.column for condition in conditions}
        self.mentions = [
            Mention(m.column, m.tokens - self.used, m.share) for m in mentions if m.tokens - self.used
        ]
        self.explained: set[int] = set(self.used)
        self.doubt = 0.0

    def explain(self, match: re.Match[str] | None) -> None:
        if match:
            self.explained |= self.q.within(*match.span())

    def all_rows(self) -> list[int]:
        return self.t.body

    def rows(self, without: Iterable[Condition] = ()) -> list[int]:
        rows = set(self.all_rows())
        for condition in self.conditions:
            if condition not in list(without):
                rows &= condition.rows
        return sorted(rows)

    def mention_of(self, near: int | None = None, kinds: Sequence[str] = (), without: set[int] = frozenset()) -> Mention | None:
        """The best mentioned column, the one nearest to a token first."""
        options = [
            m
            for m in self.mentions
            if m.column not in without and (not kinds or self.t.kinds[m.column] in kinds)
        ]
        if not options:
            return None

        def order(m: Mention) -> tuple[float, float, int]:
            distance = 0 if near is None else min(abs(i - near) for i in m.tokens)
            return (-(len(m.tokens) + m.share) + min(distance, 10) * 0.4, -m.share, m.column)

        return min(options, key=order)

    def name_column(self, word: str, without: set[int]) -> int | None:
        """The column that a question word such as who asks for."""
        stems = {self.t.analyzer.term(name) for name in KINDS_OF_NAMES[word].split()}
        for c, names in enumerate(self.t.names):
            if c not in without and stems & set(names):
                return c
        kinds = {"when": ("date", "year"), "cost": ("money",)}.get(word, ())
        for c, kind in enumerate(self.t.kinds):
            if c not in without and kind in kinds:
                return c
        return self.t.main if word == "who" and self.t.main not in without else None

    def target(self, without: set[int], by: int | None = None) -> tuple[int | None, float]:
        """The column that is asked for, and the doubt about it."""
        words = self.q.words
        match = WH.search(self.q.text)
        if match:
            after = sorted(self.q.within(match.end(), len(self.q.text)))
            phrase = []
            for i in after:
                if words[i] in AUXILIARY:
                    break
                phrase.append(i)
            first = min(after, default=0)
            mention = self.mention_of(first, without=without)
            if mention:
                near = min(mention.tokens)
                is_numeric = self.t.kinds[mention.column] in NUMERIC and by is not None
                if (not phrase or near in phrase[:MAX_DISTANCE + 1]) and not (is_numeric and match[0].startswith("which")):
                    self.explained |= mention.tokens
                    return mention.column, 0.5 * (1 - mention.share)
            if phrase and self.t.main not in without:
                nouns = [i for i in phrase[:MAX_DISTANCE] if i in self.q.content and i not in self.explained]
                self.explained |= set(nouns[:1])
                return self.t.main, 0.5 if nouns else 0.3
        for word in ("who", "when", "where"):
            if word in words:
                column = self.name_column(word, without)
                if column is not None:
                    self.explained |= {i for m in self.mentions if m.column == column for i in m.tokens}
                    return column, 0.3
        if words and words[0] == "how" and ("cost" in words or "much" in words):
            column = self.name_column("cost", without)
            mentioned = self.mention_of(None, without=without)
            if mentioned:
                self.explained |= mentioned.tokens
                return mentioned.column, 0.2
            if column is not None:
                return column, 0.4
        mention = self.mention_of(0, without=without)
        if mention:
            self.explained |= mention.tokens
            return mention.column, 0.6 * (1 - mention.share) + 0.2
        if match and self.t.main not in without:
            return self.t.main, 1.0
        return None, 9.0

    def finish(self, operation: str, cells: list[tuple[int, int]], values: list[str], doubt: float = 0.0) -> Result | None:
        if not cells or not values or any(value in EMPTY for value in values):
            return None
        names = {i for condition in self.conditions for m in self.mentions if m.column == condition.column for i in m.tokens}
        explained = self.explained | names
        light = LIGHT
        unexplained = [
            self.q.words[i] for i in self.q.content if i not in explained and self.q.stems[i] not in light and self.q.words[i] not in light
        ]
        n_exact = sum(condition.is_exact for condition in self.conditions)
        n_loose = len(self.conditions) - n_exact
        n_heavy = sum(word in HEAVY or word in OPERATORS for word in unexplained)
        score = -1.0 * len(unexplained) - n_heavy - doubt - self.doubt - 0.1 * n_loose + 0.02 * len(explained)
        return Result(operation, cells, values, unexplained, score, doubt + self.doubt + 0.1 * n_loose)

    def texts(self, cells: Iterable[tuple[int, int]]) -> list[str]:
        return list(dict.fromkeys(self.t.rows[r][c] for r, c in cells))

    def limit(self) -> list[int] | None:
        """The rows that keep the limits of the question; None if a limit names no column."""
        rows = self.rows()
        for match in [*LIMITS.finditer(self.q.text), *OR_MORE.finditer(self.q.text)]:
            found = match["number"].replace(",", "")
            number = Decimal(WORD_NUMBERS.get(found, 0) or found.strip("."))
            tokens = self.q.within(*match.span())
            if tokens & self.used:
                continue
            mention = self.mention_of(max(tokens), kinds=("number", "money", "year", "duration"))
            is_year = 1500 < number < 2100
            if mention:
                column = mention.column
                self.explained |= mention.tokens
            else:
                kinds = ("year", "date") if is_year else ("number", "money")
                columns = [c for c, kind in enumerate(self.t.kinds) if kind in kinds]
                if len(columns) != 1 and not is_year or not columns:
                    return None
                column = columns[0]
                self.doubt += 0.3
            groups = match.groupdict()
            sign = groups.get("sign")
            if groups.get("more"):
                test = lambda v, n=number: v > n
            elif groups.get("less"):
                test = lambda v, n=number: v < n
            elif groups.get("least") or sign in ("more", "higher", "above"):
                test = lambda v, n=number: v >= n
            else:
                test = lambda v, n=number: v <= n
            self.explain(match)
            kept_rows = []
            for r in rows:
                v = self.t.value(r, column)
                if v is None:
                    continue
                x = v.number // 10000 if v.unit == DATE else v.number
                if test(x):
                    kept_rows.append(r)
            rows = kept_rows
        for match in BETWEEN.finditer(self.q.text):
            low = Decimal(match["low"] or match["low2"])
            high = match["high"] or match["high2"]
            high = Decimal(high if len(high) == 4 else "20" + high)
            if self.q.within(*match.span()) & self.used:
                continue
            columns = [c for c, kind in enumerate(self.t.kinds) if kind in ("year", "date")]
            if not columns:
                return None
            self.explain(match)
            c = columns[0]
            rows = [r for r in rows if (v := self.t.value(r, c)) and low <= (v.number // 10000 if v.unit == DATE else v.number) <= high]
        return rows


NUMERIC = ("number", "money", "duration")
ORDERED = ("number", "money", "duration", "date", "year")


def parses(question: Question, table: TableText) -> Iterator[Parse]:
    """The readings of a question: for each run of words the columns whose cells hold it."""
    mentions = find_mentions(question, table)
    reserved = {
        i
        for pattern in (LIMITS, OR_MORE, BETWEEN)
        for match in pattern.finditer(question.text)
        for i in question.within(*match.span())
    }
    conditions = [c for c in find_conditions(question, table) if not c.tokens & reserved]
    by_run: dict[frozenset[int], list[Condition]] = defaultdict(list)
    for condition in conditions:
        by_run[condition.tokens].append(condition)

    def n_content(run: frozenset[int]) -> int:
        return sum(question.words[i] not in STOP_WORDS for i in run)

    def is_name(run: frozenset[int]) -> bool:
        return any(run & set(question.content) <= m.tokens for m in mentions)

    runs = sorted(
        by_run, key=lambda run: (-n_content(run), not any(c.is_exact for c in by_run[run]), min(run))
    )
    chosen: list[list[Condition]] = []
    taken: set[int] = set()
    optional: list[bool] = []
    for run in runs:
        if run & taken or len(chosen) == MAX_CONDITIONS:
            continue
        options = sorted(by_run[run], key=lambda c: (not c.is_exact, c.column))
        if options[0].is_exact:
            options = [c for c in options if c.is_exact] + [c for c in options if not c.is_exact][:1]
        taken |= run
        chosen.append(options[:3])
        optional.append(is_name(run))
    if COUNT.search(question.text):
        chosen = [
            [replace(c, rows=loose(c, conditions)) for c in options if c.is_exact or not any(o.is_exact and o.column == c.column for o in options)]
            for options in chosen
        ]
    variants: list[list[Condition]] = [[]]
    for options, can_drop in zip(chosen, optional, strict=True):
        grown = [[*variant, option] for variant in variants for option in options]
        if can_drop:
            grown += variants
        variants = grown[:64]
    for variant in variants:
        yield Parse(question, table, variant, mentions)


def look_up(text: str, table: TableText) -> Result | None:
    """The best result for a question; None if the table has none."""
    question = Question(text, table)
    results = []
    for parse in parses(question, table):
        results += [result for result in _results(parse) if result is not None]
    return max(results, key=lambda result: result.score, default=None)


def _results(parse: Parse) -> Iterator[Result | None]:
    text = parse.q.text
    if NEGATION.search(text) or DECLINED.search(text):
        return
    if YES_NO.match(text) and " or " not in text:
        return
    ops = [
        (DIFFERENCE, difference),
        (AFTER, neighbour),
        (BEFORE, neighbour),
        (None, either),
        (LARGEST, superlative),
        (SMALLEST, superlative),
        (FIRST, at_end),
        (LAST, at_end),
        (MEAN, aggregate),
        (SUM, aggregate),
        (COUNT, count),
        (None, plain),
    ]
    for pattern, run in ops:
        if pattern is None:
            yield run(Parse(parse.q, parse.t, parse.conditions, find_mentions(parse.q, parse.t)), None)
            continue
        match = pattern.search(text)
        if match:
            fresh = Parse(parse.q, parse.t, parse.conditions, find_mentions(parse.q, parse.t))
            if parse.q.within(*match.span()) & fresh.used and pattern not in (AFTER, BEFORE):
                continue
            fresh.explain(match)
            yield run(fresh, match)


def plain(p: Parse, _: re.Match[str] | None) -> Result | None:
    if COUNT.search(p.q.text):
        return None
    rows = p.limit()
    if rows is None or not rows or not (p.conditions or len(rows) < len(p.t.rows)):
        return None
    column, doubt = p.target(p.condition_columns)
    if column is None:
        return None
    cells = [(r, column) for r in rows if p.t.rows[r][column]]
    values = p.texts(cells)
    several = 0.0 if len(values) == 1 else 1.0 if len(values) <= 3 else 3.0
    return p.finish("look up", cells, values, doubt + several)


def at_end(p: Parse, match: re.Match[str]) -> Result | None:
    rows = p.limit()
    if not rows:
        return None
    after = min(p.q.within(match.end(), match.end() + 30), default=None)
    if match[0] == "top" and after is not None:
        mention = p.mention_of(after, kinds=NUMERIC)
        if mention and after in mention.tokens:
            return superlative(p, match)
    times = p.mention_of(after, kinds=("date", "year"), without=p.condition_columns)
    if times and "listed" not in p.q.words and not re.search(r"what (?:year|date)|which (?:year|date)", p.q.text):
        numbers = [(v.number, r) for r in rows if (v := p.t.value(r, times.column)) is not None]
        column, doubt = p.target(p.condition_columns | {times.column})
        if numbers and column is not None:
            p.explained |= times.tokens
            r = (min if FIRST.fullmatch(match[0]) else max)(numbers)[1]
            return p.finish("first", [(r, column)], [p.t.rows[r][column]], doubt + 0.3)
    column, doubt = p.target(p.condition_columns)
    if column is None:
        return None
    r = rows[0] if FIRST.fullmatch(match[0]) else rows[-1]
    return p.finish("first" if r == rows[0] else "last", [(r, column)], [p.t.rows[r][column]], doubt + 0.4)


def superlative(p: Parse, match: re.Match[str]) -> Result | None:
    largest = bool(LARGEST.fullmatch(match[0])) or match[0] == "top"
    word = match[0].split()[-1]
    rows = p.limit()
    if not rows:
        return None
    after = min(p.q.within(match.end(), match.end() + 30), default=None)
    by = None
    mention = p.mention_of(after, kinds=ORDERED) if after is not None else None
    doubt = 0.0
    if mention and min(abs(i - after) for i in mention.tokens) <= MAX_DISTANCE:
        by = mention.column
        doubt += 0.4 * (1 - mention.share)
    else:
        names = {p.t.analyzer.term(name) for name in ADJECTIVES.get(word, "").split()}
        columns = [
            c for c, stems in enumerate(p.t.names) if names & set(stems) and p.t.kinds[c] in ORDERED
        ]
        if not columns:
            kinds = {"cheapest": ("money",), "expensive": ("money",), "fastest": ("duration",), "latest": ("date", "year"), "earliest": ("date", "year")}.get(word, ())
            columns = [c for c, kind in enumerate(p.t.kinds) if kind in kinds]
        if len(columns) == 1 or columns and word in ("cheapest", "expensive"):
            by = columns[0]
            doubt += 0.3
    if word in ("newest", "youngest"):
        largest = True
    if by is None:
        return most_rows(p, match, rows) if word == "most" else None
    p.explained |= mention.tokens if mention and mention.column == by else set()
    values = [(v.number, r) for r in rows if (v := p.t.value(r, by)) is not None]
    if len(values) * 2 < len(rows) or not values or common_unit([p.t.value(r, by) for _, r in values]) is None:
        return None
    extreme = (max if largest else min)(number for number, _ in values)
    best = [r for number, r in values if number == extreme]
    column, unsure = p.target(p.condition_columns | {by}, by)
    is_named = mention is not None and mention.column == by and after is not None and after in mention.tokens
    if is_named and re.match(r"(?:what (?:is|was|are|were) |how |(?!wh))", p.q.text) and (column is None or unsure >= 0.4 or column == p.t.main):
        column = by
        unsure = 0.2
    if column is None:
        column = p.t.main
        unsure = 0.8
    cells = [(r, column) for r in best]
    return p.finish("largest" if largest else "smallest", cells, p.texts(cells), doubt + unsure + 0.7 * (len(p.texts(cells)) > 1))


def most_rows(p: Parse, match: re.Match[str], rows: list[int]) -> Result | None:
    column, doubt = p.target(p.condition_columns)
    if column is None:
        return None
    counts = Counter(p.t.rows[r][column] for r in rows)
    (best, n), *others = counts.most_common(2)
    if n == 1 or others and others[0][1] == n:
        return None
    following = p.q.within(match.end(), match.end() + 14)
    p.explained |= set(list(following)[:1])
    cells = [(r, column) for r in rows if p.t.rows[r][column] == best]
    return p.finish("most rows", cells, [best], doubt + 0.6)


def neighbour(p: Parse, match: re.Match[str]) -> Result | None:
    after = bool(AFTER.fullmatch(match[0]))
    end = match.end()
    following = p.q.within(end, end + 200)
    anchors = [c for c in p.conditions if min(c.tokens) in following]
    if not anchors:
        return None
    anchor = min(anchors, key=lambda c: min(c.tokens))
    if min(anchor.tokens) - min(following) > 3:
        return None
    rows = p.rows()
    if len(rows) != 1:
        return None
    in_list = re.search(r"below|above|listed|under", match[0])
    is_below = after == (not p.t.is_descending or bool(in_list))
    if COUNT.search(p.q.text):
        p.explain(COUNT.search(p.q.text))
        beyond = [r for r in p.t.body if (r > rows[0] if is_below else r < rows[0])]
        return p.finish("count", [(r, anchor.column) for r in beyond], [str(len(beyond))], 0.6)
    r = rows[0] + (1 if is_below else -1)
    if not 0 <= r < len(p.t.rows):
        return None
    others = p.condition_columns - {anchor.column}
    column, doubt = p.target(others)
    if column is None or doubt >= 0.5 and p.q.words[0] != "when":
        column = anchor.column
        doubt = 0.3
    return p.finish("after" if after else "before", [(r, column)], [p.t.rows[r][column]], doubt)


def count(p: Parse, match: re.Match[str]) -> Result | None:
    rows = p.limit()
    if rows is None:
        return None
    next_token = min(p.q.within(match.end(), match.end() + 30), default=None)
    mention = p.mention_of(next_token) if next_token is not None else None
    is_near = mention is not None and min(abs(i - next_token) for i in mention.tokens) <= 2
    if mention and is_near and p.t.kinds[mention.column] in NUMERIC and rows:
        p.explained |= mention.tokens
        c = mention.column
        numbers = [(r, v) for r in rows if (v := p.t.value(r, c)) is not None]
        if len(rows) == 1:
            return p.finish("look up", [(rows[0], c)], [p.t.rows[rows[0]][c]], 0.5 * (1 - mention.share))
        if not p.conditions or not numbers:
            return None
        total = sum(v.number for _, v in numbers)
        return p.finish("sum", [(r, c) for r, _ in numbers], [_shown(total)], 0.8 + 0.5 * (1 - mention.share))
    if not rows and not p.conditions:
        return None
    column = p.t.main
    doubt = 0.2
    if mention and is_near:
        p.explained |= mention.tokens
        column = mention.column
    elif next_token is not None:
        p.explained |= {next_token}
        doubt += 0.5
    if not rows:
        return None
    if len(rows) == 1 and p.conditions:
        doubt += 1.0
    if not p.conditions and len(rows) == len(p.t.body):
        distinct = {p.t.rows[r][column] for r in rows if p.t.rows[r][column]}
        if len(distinct) < len(rows):
            if "different" not in p.q.words:
                return None
            rows = [next(r for r in rows if p.t.rows[r][column] == cell) for cell in distinct]
        doubt += 0.2
    return p.finish("count", [(r, column) for r in rows], [str(len(rows))], doubt)


def aggregate(p: Parse, match: re.Match[str]) -> Result | None:
    rows = p.limit()
    if not rows:
        return None
    position = min(p.q.within(match.start(), match.end()), default=0)
    mention = p.mention_of(position, kinds=NUMERIC)
    if mention is None or RANKS.search(p.t.columns[mention.column]):
        return None
    p.explained |= mention.tokens
    p.explain(COUNT.search(p.q.text))
    c = mention.column
    values = [(r, v) for r in rows if (v := p.t.value(r, c)) is not None]
    unit = common_unit([v for _, v in values])
    if not values or unit is None:
        return None
    cells = [(r, c) for r, _ in values]
    if len(values) == 1:
        return p.finish("look up", cells, p.texts(cells), 0.3)
    total = sum(v.number for _, v in values)
    if MEAN.fullmatch(match[0]):
        return p.finish("mean", cells, [_shown(total / len(values), unit)], 0.3)
    return p.finish("sum", cells, [_shown(total, unit)], 0.4 + 0.4 * (1 - mention.share))


def difference(p: Parse, match: re.Match[str]) -> Result | None:
    pairs = Counter(c.column for c in p.conditions)
    columns = [c for c, n in pairs.items() if n == 2]
    if not columns:
        return None
    two = [c for c in p.conditions if c.column == columns[0]]
    rest = p.rows(without=two)
    sides = [sorted(set(rest) & c.rows) for c in two]
    if any(len(side) != 1 for side in sides):
        return None
    after = min(p.q.within(match.end(), match.end() + 30), default=0)
    mention = p.mention_of(after, kinds=ORDERED)
    if mention is None:
        return None
    p.explained |= mention.tokens
    cells = [(side[0], mention.column) for side in sides]
    values = [p.t.value(*cell) for cell in cells]
    if None in values or common_unit(values) is None or values[0].unit in (DATE,):
        return None
    return p.finish("difference", cells, [_shown(abs(values[0].number - values[1].number), common_unit(values))], 0.2)


def either(p: Parse, _: None) -> Result | None:
    if " or " not in p.q.text:
        return None
    match = COMPARATIVE.search(p.q.text) or LARGEST.search(p.q.text) or SMALLEST.search(p.q.text)
    if not match:
        return None
    pairs = Counter(c.column for c in p.conditions)
    columns = [c for c, n in pairs.items() if n == 2]
    if not columns:
        return None
    two = sorted((c for c in p.conditions if c.column == columns[0]), key=lambda c: min(c.tokens))
    between = p.q.words[max(two[0].tokens) + 1 : min(two[1].tokens)]
    if "or" not in between:
        return None
    rest = p.rows(without=two)
    sides = [sorted(set(rest) & c.rows) for c in two]
    if any(not side for side in sides):
        return None
    p.explain(match)
    groups = match.groupdict()
    up = bool(groups.get("up")) if groups else bool(LARGEST.fullmatch(match[0]))
    after = min(p.q.within(match.end(), match.end() + 30), default=0)
    word = match[0].split()[-1]
    mention = p.mention_of(after, kinds=ORDERED)
    if mention:
        p.explained |= mention.tokens
        c = mention.column
    elif word in ("first", "earlier", "sooner", "later", "older", "last"):
        times = [c for c, kind in enumerate(p.t.kinds) if kind in ("date", "year")]
        if not times:
            firsts = [side[0] for side in sides]
            i = firsts.index(min(firsts) if not up else max(firsts))
            cell = (firsts[i], columns[0])
            return p.finish("either", [cell], [p.t.rows[cell[0]][cell[1]]], 0.6)
        c = times[0]
    elif all(True for _ in sides) and word in ("more", "most", "less", "fewer"):
        sizes = [len(side) for side in sides]
        if sizes[0] == sizes[1] or max(sizes) == 1:
            return None
        i = sizes.index(max(sizes) if up else min(sizes))
        return p.finish("either", [(sides[i][0], columns[0])], [p.t.rows[sides[i][0]][columns[0]]], 0.7)
    else:
        return None
    if any(len(side) != 1 for side in sides):
        return None
    values = [p.t.value(side[0], c) for side in sides]
    if None in values or values[0].number == values[1].number:
        return None
    i = 0 if (values[0].number > values[1].number) == up else 1
    r = sides[i][0]
    return p.finish("either", [(r, columns[0])], [p.t.rows[r][columns[0]]], 0.1)


def _shown(number: Decimal, unit: str | None = "") -> str:
    if unit and unit not in (DATE, DURATION):
        return f"{_shown(number)} {unit}"
    return f"{number.normalize():f}" if number == number.to_integral() else f"{number:.2f}".rstrip("0").rstrip(".")
