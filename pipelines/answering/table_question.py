"""The words of a question that is asked of a table: the rows, columns and operations that they may mean."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, islice, product, takewhile
from operator import ge, gt, le, lt

import numpy as np
from numpy.typing import NDArray

from ...index.analysis import STOP_WORDS
from .column_names import MEANINGS, MEANT, SIMILAR
from .table_text import DATE, DURATION, MONTHS, NO, TIMES, YES, TableText, parse_value

Similarities = Callable[[Sequence[str], tuple[str, ...]], NDArray[np.float32]]

MAX_CONDITIONS = 5
MAX_READINGS = 64
MAX_TEXTS = 2_000  # different cells with a word; a word that more cells hold selects no row alone
NEAR = 3  # words
MIN_PART = 4  # characters of a word within a word of a name
NUMERIC = ("number", "money", DURATION)
ORDERED = (*NUMERIC, *TIMES)
MEASURES = ("number", DURATION)  # of sizes and times
KINDS = {
    "when": (*TIMES, DURATION),
    "much": NUMERIC,
    "many": NUMERIC,
    **dict.fromkeys("cost costs pay paid spend spent cheapest cheaper expensive".split(), ("money",)),
    **dict.fromkeys("long far heavy tall high deep fast old loud wide".split(), MEASURES),
    "who": ("words",),
    "where": ("words",),
    "fastest": (DURATION,),
    "earliest": TIMES,
    "latest": TIMES,
}
ASKING = re.compile(
    r"\b(?:(?P<job>what do(?:es)?\b(?=.* do\W*$))|(?P<cost>how much (?:is|are|was|were))"
    r"|how (?P<how>[a-z]+)|who|whose|when|where)\b"
)
AMOUNT = re.compile(r"(?:what|how much)\b")
COST = re.compile(r"\b(?:cost|price|pay|paid|charge)\b|^how much (?:is|are|was|were) (?:an?|one)\b")
# Words that ask for nothing of their own.
LIGHT = frozenset(
    (
        "list tabl includ cost allow come offer support get got make made give given name call number "
        "amount valu show hold held take taken happen occur use part one ones per total mani "
        "pleas tell know want find look s t alreadi current exact normal usual actual now "
        "right today thing money us hi hello thank guy altogeth singl anyon someon everyon column row medal "
        "chart roster person peopl overal competitor play record compet particip receiv achiev win won "
        "place finish serv score sold sell locat need let like go went gone buy bought "
        "work live belong keep kept stand came bring brought fit ran run"
    ).split()
)
# Words that change what is asked: an operation has to explain them.
OPERATORS = frozenset(
    (
        "after before below above most more less fewer than between other both under over once average next "
        "better best worst combined highest lowest largest smallest longest shortest least first last longer "
        "previous represented tallest heaviest latest newest youngest deepest oldest cheapest earliest "
        "lightest slowest fastest maximum minimum biggest fewest farthest furthest cheaper older younger "
        "heavier not no never without"
    ).split()
)
# Words in front of a noun.
BEFORE_NOUN = frozenset(
    "the a an of for in on from by with my our your this each every many much which what whose about".split()
)
PAID = frozenset("pay paid spend spent charg price cost".split())
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
LIMIT = re.compile(
    rf"\b({'|'.join(COMPARISONS)}) (?:the |a )?([0-9][0-9,]*(?:\.[0-9]+)?)(?!\w)(?: ?%| percent)?"
)
BEFORE_SUPERLATIVE = r"(?<!\bat )\b(?:(?:the|has|had|have|with|was) )*"
LARGEST = re.compile(
    BEFORE_SUPERLATIVE + r"(?:most expensive|most|highest|largest|biggest|greatest|longest|best|maximum|"
    r"tallest|heaviest|latest|newest|youngest|deepest|farthest|furthest|slowest)\b"
)
SMALLEST = re.compile(
    BEFORE_SUPERLATIVE
    + r"(?:least expensive|least|lowest|smallest|shortest|fewest|minimum|cheapest|worst|earliest|oldest|"
    r"lightest|fastest)\b"
)
LISTED = r"\b(?: (?:listed|(?:in|on) the (?:list|table|chart)))?"
NO_END = r"(?! names?\b| [0-9]| (?:two|three|four|five|ten)\b| for\b)"
FIRST = re.compile(rf"\b(?:first|top)(?: time)?{NO_END}{LISTED}")
LAST = re.compile(rf"\b(?:last|bottom|final)(?: time)?{NO_END}{LISTED}")
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
SPENT = re.compile(r"\bhow much(?= (?:[a-z]+ )?(?:did|do|does|was|were|have|has)\b)")
# At the end and before some words, "mean" is a verb.
MEAN = re.compile(
    r"\b(?:average|(?<=the )mean|mean(?! (?:in|by|for|when|if|to)\b|\W*$))\b(?!.*(?<!the )\bmean\W*$)"
    r"(?: number of)?"
)
DIFFERENCE = re.compile(
    r"\bhow (?:many|much) (?:(?:more|fewer|less|longer|higher|larger|greater)\b|[a-z]{2,12}er\b(?=.* than ))"
    r"|\b(?:by how (?:much|many)|how (?:much|many)(?= [a-z ]{1,30} between))\b"
    r"|\bdiffer(?:ence)?\b(?: in| of| between)?"
)
COMPARATIVE = re.compile(
    r"\b(?:(?P<up>more|higher|larger|bigger|greater|longer|better|later|taller|most|heavier|farther|further)|"
    r"less|fewer|lower|smaller|shorter|earlier|first|cheaper|lighter|least|sooner|older|worse)\b"
)
NEGATION = re.compile(r"\b(?:not|never|without|no|[a-z]+n't)\b")
DECLINED = re.compile(
    r"\b(?:same|more(?: or |/)less|consecutive|in a row|percent(?:age)? of|except|besides|other than)\b"
)
WH = re.compile(
    r"\b(?:which|what|whose)\b(?: (?:is|was|are|were) the (?:name|title|number) of)?(?: the)?(?: one)?"
)
# "Which rooms", "on which days" and the like.
SEVERAL = re.compile(
    r"\b(?:which|what) (?:[a-z]+ )?(?!is\b|was\b|does\b|has\b)[a-z]+(?<!s)s\b(?! (?:is|was|does|has)\b)"
    r"|\b(?:what|which|who) (?:all|are|were)\b"
)
DATE_OF = re.compile(
    rf"\b[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?(?:{'|'.join(MONTHS)})[a-z]*(?:,? [0-9]{{4}})?\b"
    rf"|\b(?:{'|'.join(MONTHS)})[a-z]* [0-3]?[0-9](?:st|nd|rd|th)?(?:,? [0-9]{{4}})?\b"
)
YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can)\b")
CAPITAL = re.compile(r"(?<=[a-z,'] )[A-Z][\w-]*")
RANKS = re.compile(r"#|\b(?:rank|pos(?:ition)?|nos?|numbers?|year|id|place|grid|lane|draw)\b", re.I)


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
    """

    column: int
    tokens: frozenset[int]
    rows: frozenset[int]
    is_exact: bool
    exact: frozenset[int] = frozenset()


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
    table has, and no operation. `similarities` are those of `ColumnNames`.
    """

    def __init__(
        self,
        text: str,
        table: TableText,
        context: Collection[str] = (),
        similarities: Similarities | None = None,
    ) -> None:
        self.table = table
        self.capitals = {word.lower() for word in CAPITAL.findall(text)}.difference(text.split())
        self.text = text.lower().replace("’", "'")
        for pattern, replacement in REWRITTEN:
            self.text = pattern.sub(replacement, self.text)
        self.tokens = table.analyzer.tokens(self.text)
        self.words = [token.word for token in self.tokens]
        self.stems = [table.stem(word) for word in self.words]
        operators = OPERATORS if LIMIT.search(self.text) else OPERATORS - {"under", "over"}
        silent = STOP_WORDS - operators - {"until", "till"}
        self.content = {i for i, word in enumerate(self.words) if word not in silent}
        self.around = {i for i in self.content if self.stems[i] in context and self.words[i] not in OPERATORS}
        self.named = self._named(similarities)
        self.mentions = list(self._mentions())

    def _named(self, similarities: Similarities | None) -> list[dict[int, float]]:
        """How strongly the words name each column, by position."""
        similar = np.zeros((len(self.words), len(self.table.columns)), np.float32)
        if similarities:
            similar = similarities(self.words, self.table.columns)
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
                elif similar[i, column] >= SIMILAR and self.words[i] not in self.capitals:
                    strengths[i] = float(similar[i, column])
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
        """How much a word asks for: a name or number most, then a noun, least a verb.

        `cells` are the positions of the words that are whole cells.
        """
        word = self.words[i]
        if word in OPERATORS:
            return 2.0
        if word in self.capitals or word[0].isdecimal():
            return 1.5
        before = i - 1
        while before in self.content and before not in self.around and before not in explained:
            before -= 1
        if i - 1 in self.content and i - 1 in explained:
            return 0.6  # such as "life" in "battery life"
        if i + 1 in cells:
            return 0.5  # such as "president" in "president Carter"
        return 1.0 if before >= 0 and self.words[before] in BEFORE_NOUN else 0.4

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
    for match in DATE_OF.finditer(question.text):
        date = parse_value(match[0].replace(" of ", " "))
        if date is None or date.unit != DATE:
            continue
        for column in table.of_kinds((DATE,)):
            values = table.values(table.body, column)
            period = 10_000 if date.amount == 0 else 10**8
            rows = frozenset(row for value, row in values if (value.number - date.number) % period == 0)
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
        yield list(chain.from_iterable(chosen))
