"""Shares the fixture `corpus_of`."""

from helpers.corpora import corpus_of

__all__ = ["corpus_of"]
