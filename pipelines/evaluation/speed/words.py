"""Words for engines that leave tokenizing to their caller: the same treatment as the passages get with us."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from ....index.analysis.stop_words import ENGLISH

PATTERN = re.compile(r"\b\w\w+\b")
STEMMER = "PyStemmer"  # the distribution


def stemmer() -> Any:
    """The Snowball stemmer for English that is compiled, as these engines' users have it."""
    return import_module("Stemmer").Stemmer("english")


class Words:
    """Lower-case words of two characters or more, stemmed; without stop words."""

    def __init__(self) -> None:
        self._stemmer = stemmer()

    def __call__(self, text: str) -> list[str]:
        """The words of a text, in order."""
        words = [word for word in PATTERN.findall(text.lower()) if word not in ENGLISH]
        stems: list[str] = self._stemmer.stemWords(words)
        return stems
