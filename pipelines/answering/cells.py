"""Cells and computed values as candidates: their features, and their fitted confidence.

A cell is a candidate if it is looked up, if the reader answers with it from its row, or if the reader quotes
it in a passage. The more of these agree, the surer it is.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from spanwise.types import ScoredSpan, Span

from ...index.analysis import Analyzer
from ...reader.evidence import CELL_FEATURES, CellFeatures
from .candidates import CellCandidate, RankedCandidate, certainty
from .reading import Material
from .table_answers import NearTable, TableResult, TableRow
from .table_interpretation import Result

WEIGHTS = "cells.json"
BIAS = "bias"  # the key of the constant term
READ = "read"  # the operation of a cell that no operation finds
MARGIN = 10.0  # logits for one unit of a feature
MAX_MARGIN = 40.0
MAX_LEAD = 10.0
MAX_UNEXPLAINED = 3  # words that count
MAX_QUOTES = 6  # candidates in the passages that count

Key = tuple[Any, ...]  # the number of a table, then row and column, or values


@cache
def fitted_weights() -> Mapping[str, float]:
    """The weights of the features, and "bias", which `training.cells` fits."""
    weights: dict[str, float] = json.loads(files(__package__).joinpath(WEIGHTS).read_text())
    return weights


def cell_evidence(features: CellFeatures) -> float:
    """The logit of the probability that a cell or a value is right."""
    weights = fitted_weights()
    return weights[BIAS] + math.fsum(weights[name] * getattr(features, name) for name in CELL_FEATURES)


def cell_candidates(
    material: Material, spans: Sequence[RankedCandidate], analyzer: Analyzer
) -> list[RankedCandidate]:
    """The cells and values that may answer a question, surest first.

    `spans` are the candidates in the passages, best first. A cell of prose is none: its spans are.
    """
    if not material.tables:
        return []
    sources = _Sources(material, spans, analyzer)
    keys = dict.fromkeys([*sources.looked_up, *sources.read, *sources.quoted])
    ranked = []
    for key in keys:
        features = sources.features(key)
        evidence = cell_evidence(features)
        candidate = sources.candidate(key, features)
        ranked.append(RankedCandidate(evidence, candidate, 1 / (1 + math.exp(-evidence))))
    return sorted(ranked, key=lambda each: -each.evidence)


def in_tables(span: Span, tables: Sequence[NearTable]) -> bool:
    """True for a span in the header of a table, or in a cell that is not prose."""
    return any(
        table.is_in_header(span) or any(not table.is_prose(*cell) for cell in table.cells(span)[:1])
        for table in tables
    )


@dataclass(frozen=True, slots=True)
class _ReadCell:
    """A cell that the reader answers with from its row, and the margin of that answer (logits)."""

    row: TableRow
    column: int
    scored: ScoredSpan
    margin: float

    @property
    def words(self) -> str:
        """The words of the cell."""
        return self.row.table.text.rows[self.row.number][self.column]


class _Sources:
    """The cells and values of the tables near a question, by source; a key begins with a table's number."""

    def __init__(self, material: Material, spans: Sequence[RankedCandidate], analyzer: Analyzer) -> None:
        self.material = material
        self.analyzer = analyzer
        self.tables = material.tables
        self.looked_up = {_key(self.tables.index(each.table), each.result): each for each in material.results}
        question = material.question
        self.missing_names = [question.rarest_name_without(t.context, t.document.id) for t in self.tables]
        self.quoted = self._quoted(spans)
        self.read = self._read()
        self.by_margin = sorted(self.read.values(), key=lambda each: -each.margin)
        best = spans[0].candidate.scored.span if spans else None
        self.quoted_table = next((t for t in self.tables if best and t.holds(best)), None)
        self.read_table = self.by_margin[0].row.table if self.by_margin else None

    def _quoted(self, spans: Sequence[RankedCandidate]) -> dict[Key, ScoredSpan]:
        """The cells of the first spans; one that begins with the row's first cell quotes the next."""
        quoted: dict[Key, ScoredSpan] = {}
        for ranked in spans[:MAX_QUOTES]:
            span = ranked.candidate.scored.span
            for number, table in enumerate(self.tables):
                cells = table.cells(span)
                if cells:
                    row, column = cells[cells[0][1] == 0 and len(cells) > 1]
                    if not table.is_prose(row, column):
                        quoted.setdefault((number, row, column), ranked.candidate.scored)
        return quoted

    def _read(self) -> dict[Key, _ReadCell]:
        """The cells that the reader answers with from their rows, each with its best span."""
        cells: dict[Key, _ReadCell] = {}
        for row, spans in zip(self.material.rows, self.material.row_readings, strict=True):
            for scored in spans:
                column = row.table.column_at(row.number, scored.span)
                if column is not None and not row.table.is_prose(row.number, column):
                    key = (self.tables.index(row.table), row.number, column)
                    cells.setdefault(key, _ReadCell(row, column, scored, certainty(scored)))
        return cells

    def features(self, key: Key) -> CellFeatures:
        """The features of a cell or a value."""
        result = self.looked_up.get(key)
        cell = self.read.get(key)
        n_sources = sum(key in source for source in (self.looked_up, self.read, self.quoted))
        return CellFeatures(
            **(self._of_result(result) if result else {}),
            **(self._of_reading(cell, result is None) if cell else {}),
            quoted=float(key in self.quoted),
            two=float(n_sources == 2),
            three=float(n_sources == 3),
            missing_name=self.missing_names[key[0]],
        )

    def candidate(self, key: Key, features: CellFeatures) -> CellCandidate:
        """The candidate; the reader's scores are those of its best source."""
        table = self.tables[key[0]]
        result = self.looked_up.get(key)
        cell = self.read.get(key)
        if result is None:
            _, row, column = key
            words = table.text.rows[row][column]
            result = TableResult(table, Result(READ, [(row, column)], (words,), False, (), 0.0))
        place = result.result.cells[0]
        span = table.cell(*place)
        unread = ScoredSpan(span, table.passage, 0.0, math.nan)
        scored = cell.scored if cell else self.quoted.get(key, unread)
        scored = replace(scored, span=span, passage=table.passage)
        return CellCandidate(scored, table.row(place[0]), features, result)

    def _of_result(self, result: TableResult) -> dict[str, float]:
        """The features of a result that is looked up."""
        value = result.result
        return {
            "looked_up": 1.0,
            "score": value.score,
            "has_rival": float(result.has_rival),
            "unexplained": float(bool(value.unexplained)),
            "n_unexplained": min(MAX_UNEXPLAINED, len(value.unexplained)) / 2,
            "computed": float(value.is_computed),
            "several": float(len(value.values) > 1),
            "in_quoted_table": float(result.table is self.quoted_table),
            "in_read_table": float(result.table is self.read_table),
        }

    def _of_reading(self, cell: _ReadCell, is_alone: bool) -> dict[str, float]:
        """The features of a cell that is read; `is_alone`: it is not looked up."""
        others = (other.margin for other in self.by_margin if other.words != cell.words)
        terms = {*self.analyzer.terms(cell.words)}
        asked = len(terms & self.material.question.content) / max(1, len(terms))
        return {
            "read": 1.0,
            "margin": _clipped(cell.margin, MAX_MARGIN),
            "lead": _clipped(cell.margin - next(others, cell.margin), MAX_LEAD),
            "best_row": float(cell.row.is_best),
            "tied_row": float(cell.row.is_best and cell.row.is_tie),
            "asked": asked,
            "read_in_quoted_table": float(is_alone and cell.row.table is self.quoted_table),
        }


def _key(number: int, result: Result) -> Key:
    """A cell, or the values of several cells."""
    if result.is_computed or len(result.cells) > 1:
        return number, *result.values
    return number, *result.cells[0]


def _clipped(logits: float, limit: float) -> float:
    return max(-limit, min(limit, logits)) / MARGIN
