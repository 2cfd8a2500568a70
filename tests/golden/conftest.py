"""Shares the fixture `corpus_of`."""

from made_corpora import corpus_of

__all__ = ["corpus_of"]
