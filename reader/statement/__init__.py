"""A question and the words that answer it, as one statement; rules and a dictionary, nothing learnt."""

from .backing import unhedged, unsaid
from .casing import as_written
from .write import statement

__all__ = ["as_written", "statement", "unhedged", "unsaid"]
