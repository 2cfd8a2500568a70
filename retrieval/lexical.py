"""Ranking by the words of a question: the analyzer in front of an index of terms."""

from __future__ import annotations

from collections.abc import Sequence

from ..index import Snapshot
from ..index.analysis import Analyzer
from ..index.protocol import Index
from .stage import Stage

Terms = Sequence[Sequence[str]]  # of each question


def lexical_stage(name: str, index: Index[Terms], snapshot: Snapshot, analyzer: Analyzer) -> Stage[Terms]:
    """Passages that share terms with the question; one made only of stop words is searched by them."""

    def terms_of(questions: Sequence[str]) -> Terms:
        return [analyzer.question_terms(question) for question in questions]

    return Stage(name, terms_of, index, snapshot)
