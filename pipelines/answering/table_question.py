"""The words of a question that is asked of a table: the rows, columns and operations that they may mean."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, islice, product, takewhile
from operator import ge, gt, le, lt

from ...index.analysis import STOP_WORDS
from .column_names import ColumnNames, Similarity
from .table_text import DATE, DURATION, MONTHS, NO, TIMES, YES, TableText, parse_value

MAX_CONDITIONS = 5
MEANT = 0.5  # the share of a name that a phrase means
SIMILAR = 0.2  # the share of a name that is like a word
MAX_READINGS = 64
MAX_TEXTS = 2_000  # different cells with a word; one that more cells hold selects no row alone
NEAR = 3  # words
NUMERIC = ("number", "money", DURATION)
ORDERED = (*NUMERIC, *TIMES)
# Words that ask for nothing of their own.
LIGHT = frozenset(
    (
        "list table includ cost allow come offer support get got make made give given name call number "
        "amount value show hold held take taken happen occur use part one ones per total much mani long far "
        "old big pleas tell s t column row medal chart roster person peopl overal competitor play record "
        "compet particip receiv achiev win won place finish serv score sold sell locat "
        "pay paid charg spend spent want need let like go went gone reach buy bought work live belong own "
        "keep kept stand alreadi current exact normal usual actual now right today thing money know find "
        "look check wonder turn provid contain cover run ran us hi hello thank guy altogether singl took "
        "came end anyon someon everyon bring brought "
        "grow grew rise rose fall fell drop increas decreas chang"
    ).split()
)
# Words that change what is asked: an operation has to explain them.
OPERATORS = frozenset(
    (
        "after before below above most more less fewer than between other both under over once average next "
        "better best worst combined highest lowest largest smallest longest shortest least first last longer "
        "previous represented"
    ).split()
)
AUXILIARIES = frozenset("is are was were be do does did has have had can could will would should".split())
REWRITTEN = [
    (re.compile(r"\b(?:at |by )?what time\b"), "when"),
    (re.compile(r"\b(?<![0-9,.])([0-9][0-9,.]{0,20}) or (?:more|higher|above|greater)\b"), r"at least \1"),
    (re.compile(r"\b(?<![0-9,.])([0-9][0-9,.]{0,20}) or (?:less|fewer|lower|below)\b"), r"at most \1"),
    (
        re.compile(r"^(?!by how|how much)(.*)\b(?:between|from) ([0-9]{4}) (?:and|to|until) ([0-9]{4})\b"),
        r"\1at least \2 at most \3",
    ),
    (re.compile(r"(?<=[a-z] )[$€£](?=[0-9])"), ""),
    *(
        (re.compile(rf"\b(than|least|most|over|under) {word}\b"), rf"\1 {number}")
        for number, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)
    ),
]
COMPARISONS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    **dict.fromkeys(
        "more than|over|above|greater than|larger than|higher than|longer than|after".split("|"), gt
    ),
    **dict.fromkeys("less than|under|below|fewer than|lower than|shorter than|before".split("|"), lt),
    **dict.fromkeys("at least|no less than|a minimum of".split("|"), ge),
    **dict.fromkeys("at most|no more than|up to".split("|"), le),
}
LIMIT = re.compile(rf"\b({'|'.join(COMPARISONS)}) (?:the |a )?([0-9][0-9,]*(?:\.[0-9]+)?)(?: ?%| percent)?")
BEFORE_SUPERLATIVE = r"(?<!\bat )\b(?:(?:the|has|had|have|with|was) )*"
LARGEST = re.compile(
    BEFORE_SUPERLATIVE + r"(?:most expensive|most|highest|largest|biggest|greatest|longest|best|maximum|"
    r"tallest|heaviest|latest|newest|youngest|deepest)\b"
)
SMALLEST = re.compile(
    BEFORE_SUPERLATIVE
    + r"(?:least expensive|least|lowest|smallest|shortest|fewest|minimum|cheapest|worst|earliest|oldest|"
    r"lightest|slowest|fastest)\b"
)
LISTED = r"\b(?: (?:listed|(?:in|on) the (?:list|table|chart)))?"
FIRST = re.compile(rf"\b(?:first|top)(?: time)?{LISTED}")
LAST = re.compile(rf"\b(?:last|bottom|final)(?: time)?{LISTED}")
BEFORE_NEIGHBOUR = (
    r"\b(?:(?:came|comes?|ended|up|is|was|listed|immediately|directly|right|just|ranked|won|finished) )*"
)
AFTER = re.compile(
    BEFORE_NEIGHBOUR
    + r"(?:next (?:[a-z]+ ){0,3}?(?=after))?(?:after|following|follow(?:s|ed)|succeeded|below|next to)\b"
)
BEFORE = re.compile(BEFORE_NEIGHBOUR + r"(?:before|prior to|previous to|preced(?:ing|es|ed)|above)\b")
COUNT = re.compile(
    r"\b(?:how many|(?:what (?:is|was|are|were) )?(?:the )?(?:total )?number of|count of)\b"
    r"(?: times| different)?"
)
SUM = re.compile(
    r"\b(?:(?:in )?total|combined|altogether|all together|together|in all|sum of|come to|add up to)\b"
    r"(?: (?:number|amount) of)?"
)
MEAN = re.compile(r"\b(?:average|mean)\b(?: number of)?")
DIFFERENCE = re.compile(
    r"\b(?:by )?how (?:many|much) (?:more|fewer|less|longer|higher|larger|greater|cheaper|bigger|heavier)\b"
    r"|\b(?:by how (?:much|many)|how (?:much|many)(?= [a-z ]{1,30} between))\b"
    r"|\bdiffer(?:ence)?\b(?: in| of| between)?"
)
COMPARATIVE = re.compile(
    r"\b(?:(?P<up>more|higher|larger|bigger|greater|longer|better|later|taller|most|heavier)|"
    r"less|fewer|lower|smaller|shorter|earlier|first|cheaper|lighter|least|sooner|older|worse)\b"
)
COMPARING = (LARGEST, SMALLEST, COMPARATIVE, LIMIT, SUM, MEAN, DIFFERENCE)
NEGATION = re.compile(r"\b(?:not|never|without|no|[a-z]+n't)\b")
PLURAL = re.compile(
    r"(?:[a-z]+ )?(?:(?:who|what) (?:were|are)|(?:which|what) (?:[a-z]+ )?(?:[a-z]*[^s\W]s|people|men))\b"
)
DATE_OF = re.compile(
    rf"\b[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?(?:{'|'.join(MONTHS)})[a-z]*(?:,? [0-9]{{4}})?\b"
    rf"|\b(?:{'|'.join(MONTHS)})[a-z]* [0-3]?[0-9](?:st|nd|rd|th)?(?:,? [0-9]{{4}})?\b"
)
DECLINED = re.compile(
    r"\b(?:same|more(?: or |/)less|consecutive|in a row|percent(?:age)? of|except|besides|other than)\b"
)
WH = re.compile(
    r"\b(?:which|what|whose)\b(?: (?:is|was|are|were) the (?:name|title|number) of)?(?: the)?(?: one)?"
)
PAID = ("pay", "paid", "spend", "spent", "charg")
MANNER = re.compile(r"how (?:do|does|did|can|was|were|is|are|have|has)\b|.*\bfor\W*$")
YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can)\b")
RANKS = re.compile(r"#|\b(?:rank|pos(?:ition)?|nos?|numbers?|year|id|place|grid|lane|draw)\b", re.I)


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
    is_named: a word of the question is in its name; else the question means it.
    """

    column: int
    tokens: frozenset[int]
    share: float
    is_named: bool


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
        similarity: Similarity | None = None,
    ) -> None:
        self.table = table
        self.names = ColumnNames(table)
        self.text = text.lower().replace("’", "'")
        for pattern, replacement in REWRITTEN:
            self.text = pattern.sub(replacement, self.text)
        self.tokens = table.analyzer.tokens(self.text)
        self.words = [token.word for token in self.tokens]
        self.stems = [table.analyzer.term(word) for word in self.words]
        operators = OPERATORS if LIMIT.search(self.text) else OPERATORS - {"under", "over"}
        self.content = {i for i, word in enumerate(self.words) if word not in STOP_WORDS or word in operators}
        self.around = {i for i in self.content if self.stems[i] in context and self.words[i] not in OPERATORS}
        places = (text[token.start : token.end] for token in self.tokens)
        self.proper = {i for i, word in enumerate(places) if i and word[:1].isupper()}
        self.is_manner = MANNER.match(self.text) is not None
        self.conditions = find_conditions(self)
        self.mentions = list(self._mentions(similarity))

    def _mentions(self, similarity: Similarity | None) -> Iterator[Mention]:
        """The columns that are named; those that are only meant have at most half of a name."""
        named: dict[int, dict[int, str]] = defaultdict(dict)
        meant: dict[int, set[int]] = defaultdict(set)
        operators = [self.within(m) for pattern in COMPARING for m in pattern.finditer(self.text)]
        for i in self.content:
            for column, name in self.names.named(self.words[i], self.stems[i]):
                named[column][i] = name
            is_operator = any(i in operator for operator in operators)
            if not is_operator and not (self.is_manner and self.stems[i] in PAID):
                for column in self.names.meant(self.stems[i]):
                    meant[column].add(i)
        in_cells = [c.tokens for c in self.conditions if c.is_exact or len(c.tokens & self.content) > 1]
        others = sorted(
            self.content.difference(self.proper, *operators, *named.values(), *meant.values(), *in_cells)
        )
        others = [i for i in others if not self.words[i].isdecimal()]
        similar: dict[int, set[int]] = defaultdict(set)
        if similarity and others:
            for place, column in self.names.similar([self.words[i] for i in others], similarity):
                similar[column].add(others[place])
        for column in sorted({*named, *meant, *similar}):
            tokens = frozenset(named[column]) | meant[column] | similar[column]
            share = len(set(named[column].values())) / max(len(self.names.stems[column]), 1)
            yield Mention(column, tokens, share or (MEANT if meant[column] else SIMILAR), share > 0)

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
        places = list(table.places(question.stems[i]))
        if len({table.rows[row][column] for row, column in places}) <= MAX_TEXTS:
            cells.update(dict.fromkeys(places))
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
        )
        for (column, run, is_exact), places in rows.items()
        if not limits.intersection(run)
    ]


def _dated(question: Question) -> Iterator[Condition]:
    """The rows of each date in the question, in each column of dates; of any year where it has none."""
    table = question.table
    for match in DATE_OF.finditer(question.text):
        date = parse_value(match[0].replace(" of ", " "))
        if date is None or date.unit != DATE:
            continue
        for column in table.of_kinds((DATE,)):
            values = table.values(table.body, column)
            rows = frozenset(
                row
                for value, row in values
                if (value.number - date.number) % (10_000 if date.amount == 0 else 10**8) == 0
            )
            if rows:
                yield Condition(column, question.within(match), rows, True)


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
    for run, is_exact in sorted(runs, key=lambda pair: (-len(pair[0]), pair[0].start)):
        if not taken.intersection(run):
            taken.update(run)
            yield run, is_exact


def _answers_of(question: Question) -> list[Condition]:
    """The rows with yes, or no after a negation, in each column of yes and no that the question names."""
    if YES_NO.match(question.text):
        return []
    table = question.table
    negation = {i for match in NEGATION.finditer(question.text) for i in question.within(match)}
    asked = NO if NEGATION.search(question.text) else YES
    named = [
        mention
        for mention in question.mentions
        if mention.is_named and (table.kinds[mention.column] == "yes-no" or negation)
    ]
    conditions = []
    for mention in named:
        rows = frozenset(r for r in table.body if table.rows[r][mention.column].lower() in asked)
        if rows:
            conditions.append(Condition(mention.column, mention.tokens | negation, rows, True))
    return conditions


def readings(question: Question) -> Iterator[list[Condition]]:
    """The sets of conditions that the question may mean: one column for each run of words.

    A run that is also the name of a column may be no condition.
    """
    by_run: dict[frozenset[int], dict[int, list[Condition]]] = defaultdict(dict)
    for condition in sorted(
        question.conditions + list(_dated(question)) + _answers_of(question),
        key=lambda c: (-len(c.tokens & question.content), not c.is_exact, min(c.tokens), c.column),
    ):
        by_run[condition.tokens].setdefault(condition.column, [condition])
    options: list[list[list[Condition]]] = []
    taken: set[int] = set()
    for run, by_column in by_run.items():
        if not run & taken and len(options) < MAX_CONDITIONS:
            taken |= run
            choices = list(by_column.values())[:3]
            names = [mention.tokens for mention in question.mentions]
            names += map(question.within, SUM.finditer(question.text))
            is_name = any(run & question.content <= name for name in names)
            options.append([*choices, []] if is_name else choices)
    for chosen in islice(product(*options), MAX_READINGS):
        conditions = list(chain.from_iterable(chosen))
        yield conditions
        if len(consistent := _consistent(conditions)) < len(conditions):
            yield consistent


def _consistent(conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions that one row fulfils, without those that are parts of cells and fit no such row."""
    fitting: list[Condition] = []
    for condition in sorted(conditions, key=lambda c: (-len(c.tokens), not c.is_exact)):
        others = [other.rows for other in fitting]
        if condition.is_exact or condition.rows.intersection(*others):
            fitting.append(condition)
    return fitting
