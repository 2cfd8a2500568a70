"""The words of a question that is asked of a table: the rows, columns and operations that they may mean."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from operator import ge, gt, le, lt

from ...eval.quantities import DURATION, NUMBER_WORDS, spelled
from ...index.analysis import STOP_WORDS
from ..understanding.patterns import mapping, pattern, words
from .table_text import TableText

MEANINGS = mapping("columns.meanings")
MEANT = 0.85  # the strength of a word with the meaning of a name, against 1 for a word of the name
NEAR = 3  # words
MIN_PART = 4  # characters of a word within a word of a name
MEASURES = ("number", DURATION)  # of sizes and times
KINDS = {
    word: tuple(kinds.split()) for row, kinds in mapping("table_words.kinds").items() for word in row.split()
}
ASKING = pattern("asked_column.question")
OPERATORS = frozenset(words("table_words.operators"))
PAID = frozenset(words("table_words.paid"))
AUXILIARIES = frozenset(words("table_words.auxiliaries"))
CONTRACTED = re.compile(r"\b(what|who|where|when|how)'s\b")
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


def meant_names(table: TableText, word: str) -> dict[str, int]:
    """The stems of the names that a word of a question means, numbered from the likeliest on."""
    names = [name for words, meant in MEANINGS.items() if word in words.split() for name in meant.split()]
    return {table.stem(name): number for number, name in reversed(list(enumerate(names)))}


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


class TableQuestion:
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
        self.text = CONTRACTED.sub(r"\1 is", self.text)
        self.text = SPELLED.sub(lambda match: f"{match[1]} {spelled(match['words'])}", self.text)
        self.tokens = table.analyzer.tokens(self.text)
        self.words = [token.word for token in self.tokens]
        self.stems = [table.stem(word) for word in self.words]
        operators = OPERATORS if LIMIT.search(self.text) else OPERATORS - {"under", "over"}
        silent = STOP_WORDS - (operators - {"since"} if "since when" in self.text else operators)
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
        return self.between(*match.span())

    def between(self, start: int, end: int) -> frozenset[int]:
        """The positions of the words between two places in the text."""
        return frozenset(i for i, token in enumerate(self.tokens) if token.start < end and token.end > start)

    def following(self, match: re.Match[str]) -> int:
        """The position of the word after a match."""
        return next((i for i, token in enumerate(self.tokens) if token.end > match.end()), len(self.words))
