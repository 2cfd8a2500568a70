"""Reading: the hits of a question, with early exit, and rows of the tables near them.

Each step takes what is known about a question and returns it with more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from spanwise.options import ProgressCallback, no_progress
from spanwise.types import Hit, Passage, ScoredSpan

from ...index.analysis import Analyzer, name_of
from ...index.schema import indexed_text
from ...reader.evidence import EarlyExit
from ...reader.protocol import Reader
from ..understanding.question import Question
from .table_answers import NearTable, TableResult, TableRow

N_BEST = 8  # spans of a passage that are scored

Readings = Sequence[Sequence[ScoredSpan]]
"""The spans of each passage that was read, in the order of the hits; later hits were not read."""


@dataclass(frozen=True, slots=True)
class Material:
    """What is known about a question before an answer is chosen.

    question: the question.
    hits: the retrieved passages, best first.
    tables: the tables that hold a part of them.
    results: what is looked up in the tables.
    rows: the rows of the tables that share words with the question.
    readings: the spans of the hits that were read.
    row_readings: the spans of the rows, in offsets of `NearTable.record`.
    """

    question: Question
    hits: Sequence[Hit]
    tables: Sequence[NearTable] = ()
    results: Sequence[TableResult] = ()
    rows: Sequence[TableRow] = ()
    readings: Readings = ()
    row_readings: Readings = ()

    @property
    def n_unread(self) -> int:
        """The number of hits that are not read."""
        return len(self.hits) - len(self.readings)


@dataclass(frozen=True, slots=True)
class HitReader:
    """Reads hits and rows.

    reader: the reader.
    analyzer: the analyzer of the index.
    stopping: the rule for early exit; None reads all hits.
    on_progress: called while passages are read.
    """

    reader: Reader
    analyzer: Analyzer
    stopping: EarlyExit | None = None
    on_progress: ProgressCallback = no_progress

    def read(self, batch: Sequence[Material]) -> list[Material]:
        """Each material with their rows read, and with their hits as far as the rule for early exit wants."""
        if self.stopping is None:
            return self.read_remaining(self._read_rows(batch))
        rule = self.stopping
        first = self._read_hits(batch, [rule.part(len(each.hits)) for each in batch])
        enough = [rule.is_enough(chain.from_iterable(each.readings)) for each in first]
        wanted = [
            len(each.readings) if stops else len(each.hits) for each, stops in zip(first, enough, strict=True)
        ]
        return self._read_rows(self._read_hits(first, wanted))

    def read_remaining(self, batch: Sequence[Material]) -> list[Material]:
        """Each material with all hits read."""
        return self._read_hits(batch, [len(each.hits) for each in batch])

    def _read_hits(self, batch: Sequence[Material], wanted: Sequence[int]) -> list[Material]:
        """Each material with the first hits read, all questions in one call."""
        complete = list(batch)
        waiting = [i for i, each in enumerate(batch) if len(each.readings) < wanted[i]]
        if not waiting:
            return complete
        n_read = sum(len(each.readings) for each in batch)
        self.on_progress("passages", n_read, sum(len(each.hits) for each in batch))
        unread = [[hit.passage for hit in batch[i].hits[len(batch[i].readings) : wanted[i]]] for i in waiting]
        named = [
            [self._named(batch[i].question, passage) for passage in some]
            for i, some in zip(waiting, unread, strict=True)
        ]
        texts = [batch[i].question.text for i in waiting]
        read = self.reader.read(texts, named, N_BEST)
        for i, passages, spans in zip(waiting, unread, read, strict=True):
            stored = [
                [replace(span, passage=passage) for span in some]
                for passage, some in zip(passages, spans, strict=True)
            ]
            complete[i] = replace(batch[i], readings=[*batch[i].readings, *stored])
        return complete

    def _read_rows(self, batch: Sequence[Material]) -> list[Material]:
        """Each material with their rows read, all questions in one call."""
        complete = list(batch)
        waiting = [i for i, each in enumerate(batch) if each.rows]
        if waiting:
            texts = [batch[i].question.text for i in waiting]
            records = [[row.table.record(row.number) for row in batch[i].rows] for i in waiting]
            for i, spans in zip(waiting, self.reader.read(texts, records, N_BEST), strict=True):
                complete[i] = replace(batch[i], row_readings=spans)
        return complete

    def _named(self, question: Question, passage: Passage) -> Passage:
        """The passage as the reader sees it: below its path, if only the path has a word of the question."""
        named = self.analyzer.name_terms(passage.document_id).intersection(question.terms)
        if not named or named.issubset(self.analyzer.terms(indexed_text(passage))):
            return passage
        return replace(passage, heading=(name_of(passage.document_id), *passage.heading))
