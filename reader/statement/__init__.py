"""A question and the words that answer it, as one statement; rules and a dictionary, nothing learnt."""

from .backing import unhedged, unsaid
from .write import statement

__all__ = ["statement", "unhedged", "unsaid"]
