"""tantivy (a search engine in Rust) with its English stemmer, one writer thread, ids in a fast field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from ..corpus import Corpus
from ..new_process import answer_of_new_process

HEAP = 256_000_000  # bytes
NO_SYNTAX = re.compile(r"[^\w\s]")  # signs mean something in its query language
FIRST_SEARCH = """
import json, sys, tantivy
folder, question, k = sys.argv[1:]
index = tantivy.Index.open(folder)
searcher = index.searcher()
hits = searcher.search(index.parse_query(question, ["body"]), limit=int(k), count=False).hits
print(json.dumps(searcher.fast_field_values("number", [address for _, address in hits])))
"""


class Tantivy:
    """An index on disk, merged and committed, that one searcher is open on."""

    name: ClassVar[str] = "tantivy"
    comparisons: ClassVar[tuple[str, ...]] = ("bm25-index", "bm25-search", "bm25-kernel")
    needs: ClassVar[tuple[str, ...]] = ("tantivy",)

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the library and describe the index."""
        self.library: Any = import_module("tantivy")
        schema = self.library.SchemaBuilder()
        schema.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
        schema.add_integer_field("number", fast=True)
        self.schema = schema.build()
        self.folder, self.builds = folder, 0

    def build(self, corpus: Corpus) -> None:
        """Write all passages and commit."""
        self.builds += 1
        self.path = self.folder / str(self.builds)
        self.path.mkdir()
        self.index = self.library.Index(self.schema, path=str(self.path))
        writer = self.index.writer(HEAP, 1)
        for number, text in enumerate(corpus.texts):
            writer.add_document(self.library.Document(body=text, number=number))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k."""
        query = self.index.parse_query(NO_SYNTAX.sub(" ", question), ["body"])
        hits = self.searcher.search(query, limit=k, count=False).hits
        numbers: list[int] = self.searcher.fast_field_values("number", [address for _, address in hits])
        return numbers


class FirstSearch(Tantivy):
    """Opens the index in a new process."""

    comparisons: ClassVar[tuple[str, ...]] = ("first-search",)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k, as the new process prints them."""
        numbers: list[int] = answer_of_new_process(
            "-c", FIRST_SEARCH, str(self.path), NO_SYNTAX.sub(" ", question), str(k)
        )
        return numbers


ENGINES = (Tantivy, FirstSearch)
