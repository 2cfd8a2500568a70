"""What a question may mean in a table: conditions on rows, named columns, the words that are explained."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import takewhile
from math import inf

from ...eval.quantities import TIMES, YEARS
from . import table_question as asked
from .row_conditions import Condition
from .table_question import MEANT, NEAR, Mention, TableQuestion, meant_names
from .table_text import EMPTY, MAX_CELL, NUMERIC, ORDERED

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


class Interpretation:
    """What a question may mean: conditions on rows, an operation, and the words that are explained so far.

    `match` are the words of the operation, `near` is the position of the word after them.
    """

    def __init__(self, question: TableQuestion, conditions: Sequence[Condition], match: Match) -> None:
        self.question = question
        self.table = question.table
        self.conditions = conditions
        self.match = match
        self.near = question.following(match)
        self.columns = {condition.column for condition in conditions if not condition.is_range}
        self.explained = {i for condition in conditions for i in condition.tokens}
        self.mentions = [
            replace(mention, tokens=tokens, strength=sum(question.named[mention.column][i] for i in tokens))
            for mention in question.mentions
            if (tokens := mention.tokens - self.explained)
        ]
        self.doubt = 0.1 * sum(not condition.is_exact for condition in conditions)

    def explain(self, match: Match | None) -> None:
        """Explain the words of a match."""
        if match:
            self.explained |= self.question.within(match)

    def rows(self, without: Collection[Condition] = (), is_exact: bool = False) -> list[int]:
        """The rows that fulfil all conditions but some; rows of totals only if there are no others.

        With `is_exact` cells that only hold the words of a condition count only where no cell is the words.
        """
        held = [
            condition.exact or condition.rows if is_exact else condition.rows
            for condition in self.conditions
            if condition not in without
        ]
        if not held:
            return self.table.body
        rows = frozenset.intersection(*held)
        return sorted(rows & self.table.is_body or rows)

    def find_mention(
        self, near: int, kinds: Collection[str] = (), without: Collection[int] = (), within: float = inf
    ) -> Mention | None:
        """The named column of some kinds that is best named near a word."""
        options = [
            mention
            for mention in self.mentions
            if mention.column not in without
            and not mention.tokens <= self.explained
            and (not kinds or self.table.kinds[mention.column] in kinds)
        ]
        best = max(
            options,
            key=lambda m: (m.strength + m.share - 0.4 * min(distance(m, near), 10), m.share),
            default=None,
        )
        return best if best is not None and distance(best, near) <= within else None

    def take_mention(
        self, near: int, kinds: Collection[str] = (), without: Collection[int] = (), within: float = inf
    ) -> Mention | None:
        """The same, whose words are explained from then on."""
        mention = self.find_mention(near, kinds, without, within)
        if mention:
            self.explain_mention(mention)
        return mention

    def explain_mention(self, mention: Mention) -> None:
        """Explain the words that name a column; those that only mean its name leave doubt."""
        self.explained |= mention.tokens
        self.doubt += 0.5 * (len(mention.tokens) - mention.strength)

    def named_by(self, word: str, without: Collection[int] = ()) -> list[int]:
        """The columns that a word such as "tallest" asks for: the best named ones, else those of its kind."""
        meant = meant_names(self.table, word)
        kinds = asked.KINDS.get(word, ())
        ranks = {
            column: min(meant[stem] for stem in name if stem in meant)
            for column, name in enumerate(self.table.names)
            if column not in without
            and meant.keys() & set(name)
            and (word not in ("who", "when", "where") or self.table.kinds[column] in (*kinds, "words"))
        }
        of_kind = [] if kinds == asked.MEASURES else self.table.of_kinds(kinds)
        best = min(ranks.values(), default=0)
        return [c for c, rank in ranks.items() if rank == best] or [c for c in of_kind if c not in without]

    def measured_by(self, match: Match, kinds: Collection[str] = ORDERED) -> int | None:
        """The column of some kinds that is named near a match, or that its last word means.

        Of sums and of "more" else that of costs, else the only one of numbers but ranks.
        """
        if mention := self.take_mention(self.question.following(match), kinds, self.columns):
            return mention.column
        word = match[0].split()[-1]
        is_amount = kinds == NUMERIC or word in ("more", "less", "fewer")
        for column in self.named_by(word, self.columns) + self.named_by("cost", self.columns) * is_amount:
            if self.table.kinds[column] in kinds:
                return column
        if not is_amount:
            return None
        numbers = set(self.table.of_kinds(NUMERIC)) - self.columns
        numbers = {column for column in numbers if not self.table.numbers_rows(column)}
        return numbers.pop() if len(numbers) == 1 else None

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
            if self.question.within(match) <= self.explained:
                continue
            compare = asked.COMPARISONS[match[1]]
            kinds = TIMES if match[2].isdecimal() and Decimal(match[2]) in YEARS else NUMERIC
            columns = self.table.of_kinds(kinds)
            near = max(self.question.within(match))
            meant = [c for c in self.named_by(match[1].split()[0], self.columns) if c in columns]
            if mention := self.take_mention(near, (*NUMERIC, *kinds), self.columns):
                columns = [mention.column]
            elif meant:
                columns = meant
            elif not columns or (len(columns) > 1 and kinds is not TIMES):
                return []
            else:
                self.doubt += 0.3
            self.explain(match)
            limit = self.table.limit(match[2], columns[0])
            values = self.table.values(rows, columns[0])
            rows = [row for value, row in values if limit is not None and compare(value.amount, limit)]
        return rows

    def target(self, without: Collection[int], is_superlative: bool = False) -> tuple[int, float] | None:
        """The column that is asked for, and the doubt about it."""
        match = asked.WH.search(self.question.text)
        if match and (column := self._after_question_word(match, without, is_superlative)):
            return column
        if column := self._by_question_word(without):
            return column
        if mention := self.take_mention(0, without=without):
            return mention.column, 0.2 + 0.6 * (1 - mention.share)
        if match is None or self.table.main in without:
            return None
        return self.table.main, 1.0 if self.mentions_others() else 0.5

    def _by_question_word(self, without: Collection[int]) -> tuple[int, float] | None:
        """The column that words such as "when" or "how long" ask for: a named one of that kind first."""
        match = asked.ASKING.search(self.question.text)
        if match is None:
            return None
        word = "job" if match["job"] else "cost" if match["cost"] else match["how"] or match[0]
        kinds = asked.KINDS.get(word, ())
        columns = self.named_by(word, without)
        near = self.question.following(match)
        may_name = kinds and not (columns and word == "where")
        far = self._unnamed(near) if word == "who" else set()
        if may_name and (mention := self.take_mention(near, kinds, {*without, *far})):
            self.explain(match)
            return mention.column, 0.1 + 0.5 * (1 - mention.share)
        doubt = 0.3 if len(columns) == 1 else 1.5
        if word == "who" and doubt == 1.5 and self.table.main not in without:
            columns = [self.table.main]
            doubt = 0.5
        if not columns:
            return None
        self.explain(match)
        self.explained |= {i for m in self.mentions if m.column == columns[0] for i in m.tokens}
        return columns[0], doubt

    def _after_question_word(
        self, match: Match, without: Collection[int], is_superlative: bool
    ) -> tuple[int, float] | None:
        """The column named by the words between "which" or "what" and the verb, or after "what is"."""
        first = self.question.following(match)
        after = range(first, len(self.question.words))
        phrase = list(takewhile(lambda i: self.question.words[i] not in asked.AUXILIARIES, after))
        mention = self.find_mention(first, without=without)
        if mention and (not phrase or min(mention.tokens) in phrase[: NEAR + 1]):
            is_similar = phrase and mention.strength < MEANT
            is_number = (is_superlative or is_similar) and self.table.kinds[mention.column] in NUMERIC
            if not (is_number and match[0].startswith("which")):
                self.explain_mention(mention)
                return mention.column, 0.5 * (1 - mention.share)
        if self.table.main in without or not (phrase or is_superlative or self.names_condition()):
            return None
        nouns = [i for i in phrase[:NEAR] if i in self.question.content - self.explained]
        self.explained.update(nouns[:1])  # what the rows are
        return self.table.main, 0.5 if nouns and nouns[0] not in self.question.around else 0.3

    def names_condition(self) -> bool:
        """True if the question names the column of a condition, as "what is Ann responsible for" does."""
        named = {i for column in self.columns for i in self.question.named[column]} - self.explained
        return bool(named) and not self.mentions_others()

    def mentions_others(self) -> bool:
        """True if the question names a column without a condition."""
        return any(mention.column not in self.columns for mention in self.mentions)

    def _unnamed(self, near: int) -> set[int]:
        """The columns that no word beside another one names."""
        return {
            column
            for column, strengths in enumerate(self.question.named)
            if not any(strength >= MEANT and abs(i - near) <= NEAR for i, strength in strengths.items())
        }

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
        held = {condition.column for condition in self.conditions}
        named = held | {self.table.main}  # such as "tools" in "the tools of Norvik"
        names = {i for c in named for i, strength in question.named[c].items() if strength >= MEANT}
        explained = self.explained | names
        numbers = {i for strengths in question.named for i in strengths if question.words[i].isdecimal()}
        explained |= {i - 1 for i in numbers & explained}  # such as "bus" in "bus 703"
        rest = sorted(question.content - explained - question.around)
        if self.table.kinds[cells[0][1]] == "money":
            rest = [i for i in rest if question.stems[i] not in asked.PAID]
        exact = {i for condition in self.conditions if condition.is_exact for i in condition.tokens}
        weight = sum(question.weight(i, explained, exact) for i in rest)
        score = 0.02 * len(explained) - weight - doubt - self.doubt
        unexplained = tuple(question.words[i] for i in rest)
        return Result(operation, cells, values, value is not None, unexplained, score)


def distance(mention: Mention, token: int) -> int:
    """The number of words from a word to the nearest one that names the column."""
    return min(abs(i - token) for i in mention.tokens)
