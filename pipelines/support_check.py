"""The check of written sentences with the library's own analysis of words."""

from __future__ import annotations

from ..index.analysis import Analyzer
from ..index.analysis.stop_words import ENGLISH
from ..reader.support.check import Checker


def checker(analyzer: Analyzer) -> Checker:
    """The check whose words are the terms of an analyzer; function words carry no meaning."""

    def content(text: str) -> list[str]:
        return [analyzer.term(token.word) for token in analyzer.tokens(text) if token.word not in ENGLISH]

    return Checker(analyzer.terms, content)
