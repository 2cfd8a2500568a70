"""SQLite's FTS5 with its Porter stemmer: a table on disk without the texts, optimized."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from .....index.analysis.stop_words import ENGLISH
from ..corpus import Corpus
from ..new_process import answer_of_new_process

TABLE = "CREATE VIRTUAL TABLE passages USING fts5(body, content='', tokenize='porter unicode61')"
SEARCH = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"
WORD = re.compile(r"\w+")
FIRST_SEARCH = f"""
import json, sqlite3, sys
path, words, k = sys.argv[1:]
print(json.dumps([row for row, in sqlite3.connect(path).execute({SEARCH!r}, (words, int(k)))]))
"""


class Fts5:
    """A question is its words without stop words, any of which may match."""

    name: ClassVar[str] = "SQLite FTS5"
    comparisons: ClassVar[tuple[str, ...]] = ("bm25-index", "bm25-search", "bm25-kernel")
    needs: ClassVar[tuple[str, ...]] = ()

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Nothing to load."""
        self.folder, self.builds = folder, 0

    def build(self, corpus: Corpus) -> None:
        """Insert all passages in one transaction."""
        self.builds += 1
        self.path = self.folder / f"{self.builds}.sqlite"
        self.database = sqlite3.connect(self.path)
        self.database.execute(TABLE)
        rows = enumerate(corpus.texts)
        self.database.executemany("INSERT INTO passages(rowid, body) VALUES (?, ?)", rows)
        self.database.execute("INSERT INTO passages(passages) VALUES ('optimize')")
        self.database.commit()

    def search(self, question: str, k: int) -> Sequence[int]:
        """The row ids of the best k."""
        return [row for (row,) in self.database.execute(SEARCH, (any_of(question), k))]


class FirstSearch(Fts5):
    """Opens the file in a new process."""

    comparisons: ClassVar[tuple[str, ...]] = ("first-search",)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The row ids of the best k, as the new process prints them."""
        rows: list[int] = answer_of_new_process("-c", FIRST_SEARCH, str(self.path), any_of(question), str(k))
        return rows


def any_of(question: str) -> str:
    """The question in the query language of FTS5.

    >>> any_of("Who built the mill?")
    '"built" OR "mill"'
    """
    words = WORD.findall(question.lower())
    return " OR ".join(f'"{word}"' for word in [w for w in words if w not in ENGLISH] or words)


ENGINES = (Fts5, FirstSearch)
