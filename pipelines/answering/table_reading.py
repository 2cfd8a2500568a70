"""A reading of a question about a table: conditions on rows, an operation, the words that both explain."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import takewhile
from math import inf

from . import table_question as asked
from .table_question import NEAR, NUMERIC, Condition, Mention, Question
from .table_text import EMPTY, MAX_CELL, TIMES, YEARS

RIVAL_COLUMN = 0.3  # doubt if another column is named as well

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
    cells: list[tuple[int, int]]
    values: tuple[str, ...]
    is_computed: bool
    unexplained: tuple[str, ...]
    score: float


class Reading:
    """One reading of a question: conditions on rows, an operation, and the words that are explained so far.

    `match` are the words of the operation, `near` is the position of the word after them.
    """

    def __init__(self, question: Question, conditions: Sequence[Condition], match: Match) -> None:
        self.question = question
        self.table = question.table
        self.conditions = conditions
        self.match = match
        self.near = question.following(match)
        self.columns = {condition.column for condition in conditions}
        self.explained = {i for condition in conditions for i in condition.tokens}
        self.mentions = [
            replace(mention, tokens=tokens)
            for mention in question.mentions
            if (tokens := mention.tokens - self.explained)
        ]
        self.doubt = 0.1 * sum(not condition.is_exact for condition in conditions)

    def explain(self, match: Match | None) -> None:
        """Explain the words of a match."""
        if match:
            self.explained |= self.question.within(match)

    def rows(self, without: Collection[Condition] = ()) -> list[int]:
        """The rows that fulfil all conditions but some; rows of totals only if there are no others."""
        held = [condition.rows for condition in self.conditions if condition not in without]
        if not held:
            return self.table.body
        rows = frozenset.intersection(*held)
        return sorted(rows & self.table.is_body or rows)

    def mention(
        self, near: int, kinds: Collection[str] = (), without: Collection[int] = (), within: float = inf
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
        if best is None or distance(best, near) > within:
            return None
        rivals = [m for m in options if m.tokens == best.tokens and m.share == best.share]
        self.doubt += RIVAL_COLUMN * (len(rivals) > 1)
        self.explained |= best.tokens
        return best

    def named_by(self, word: str, without: Collection[int] = ()) -> list[int]:
        """The columns that a word such as "who" or "tallest" asks for, by name, else by kind."""
        columns = self.question.names.meant(self.table.analyzer.term(word))
        return [column for column in columns if column not in without]

    def measure(self, kinds: Collection[str] = NUMERIC, without: Collection[int] = ()) -> Mention | None:
        """The named column of some kinds, else that of costs, else the only one of numbers."""
        if mention := self.mention(self.near, kinds, without):
            return mention
        words = [*self.match[0].split(), "cost"]
        meant = next(filter(None, map(self.named_by, words)), [])
        columns = [c for c in meant if self.table.kinds[c] in kinds]
        columns = columns or self.table.of_kinds(NUMERIC)
        names = [c for c in columns if not asked.RANKS.search(self.table.columns[c]) and c not in without]
        return Mention(names[0], frozenset(), asked.MEANT, False) if len(names) == 1 else None

    def joined_rows(self) -> list[int]:
        """The rows that fulfil a condition of each column; those of "and" are taken together."""
        by_column: dict[int, frozenset[int]] = {}
        for condition in self.conditions:
            by_column[condition.column] = by_column.get(condition.column, frozenset()) | condition.rows
        return sorted(frozenset(self.table.body).intersection(*by_column.values()))

    def limited_rows(self) -> list[int]:
        """The rows that fulfil all conditions and the limits in the question."""
        rows = self.rows()
        for match in asked.LIMIT.finditer(self.question.text):
            number = Decimal(match[2].replace(",", ""))
            compare = asked.COMPARISONS[match[1]]
            kinds = TIMES if number in YEARS else NUMERIC
            columns = self.table.of_kinds(kinds)
            if mention := self.mention(max(self.question.within(match)), (*NUMERIC, *kinds)):
                columns = [mention.column]
            elif not columns or (len(columns) > 1 and kinds is not TIMES):
                return []
            else:
                self.doubt += 0.3
            self.explain(match)
            values = self.table.values(rows, columns[0])
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
            if also := [m for m in self.mentions if m.column in columns]:
                columns = [max(also, key=lambda m: len(m.tokens)).column]
            if word == "who" and not columns and self.table.main not in without:
                columns = [self.table.main]
            if columns:
                self.explained |= {i for m in self.mentions if m.column == columns[0] for i in m.tokens}
                return columns[0], 0.3
        if mention := self.mention(0, without=without):
            return mention.column, 0.2 + 0.6 * (1 - mention.share)
        if words[0] == "how" and not self.question.is_manner and (costs := self.named_by("cost", without)):
            return costs[0], 0.4
        return (self.table.main, 1.0) if match and self.table.main not in without else None

    def _after_question_word(
        self, match: Match, without: Collection[int], is_superlative: bool
    ) -> tuple[int, float] | None:
        """The column named by the words between "which" or "what" and the verb, or after "what is"."""
        first = self.question.following(match)
        after = range(first, len(self.question.words))
        phrase = list(takewhile(lambda i: self.question.words[i] not in asked.AUXILIARIES, after))
        explained = set(self.explained)
        doubt = self.doubt
        mention = self.mention(first, without=without)
        if mention and (not phrase or min(mention.tokens) in phrase[: NEAR + 1]):
            is_number = is_superlative and self.table.kinds[mention.column] in NUMERIC
            is_named = mention.is_named or not phrase or self.table.main in without
            if is_named and not (is_number and match[0].startswith("which")):
                return mention.column, 0.5 * (1 - mention.share)
        self.explained = explained
        self.doubt = doubt
        if not phrase or self.table.main in without:
            return None
        nouns = [i for i in phrase[:NEAR] if i in self.question.content - explained]
        self.explained.update(nouns[:1])  # what the rows are
        return self.table.main, 0.5 if nouns else 0.3

    def result(
        self, operation: str, rows: Sequence[int], column: int, doubt: float, value: str | None = None
    ) -> Result | None:
        """The result with the words of the cells of a column, or with a value computed from them."""
        return self.computed(operation, [(row, column) for row in rows], doubt, value)

    def computed(
        self, operation: str, cells: list[tuple[int, int]], doubt: float, value: str | None
    ) -> Result | None:
        """The result with a value computed from cells, or with their words."""
        texts = dict.fromkeys(self.table.rows[row][column] for row, column in cells)
        values = tuple(texts) if value is None else (value,)
        if not texts or EMPTY & set(values) or max(map(len, values)) > MAX_CELL:
            return None
        question = self.question
        columns = self.columns.union(column for _, column in cells)
        names = {i for mention in self.mentions if mention.column in columns for i in mention.tokens}
        explained = self.explained | names
        explained |= {i - 1 for i in names if question.words[i].isdecimal()}  # what a number names
        rest = sorted(question.content - explained - question.around)
        unexplained = tuple(question.words[i] for i in rest if question.stems[i] not in asked.LIGHT)
        n_operators = sum(word in asked.OPERATORS for word in unexplained)
        score = 0.02 * len(explained) - len(unexplained) - n_operators - doubt - self.doubt
        return Result(operation, cells, values, value is not None, unexplained, score)


def distance(mention: Mention, token: int) -> int:
    """The number of words from a word to the nearest one that names the column."""
    return min(abs(i - token) for i in mention.tokens)
