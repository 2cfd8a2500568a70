"""Our lexical search, through the library and its retrievers as `spanwise search` uses them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from .....index import Snapshot
from .....index.postings_index import PostingsIndex
from .....retrieval.bm25 import BM25
from ....library import Library
from ....paragraph_index import document_id_of, paragraph_library
from ..corpus import Corpus
from ..new_process import answer_of_new_process
from ..registry import OURS


class Bm25:
    """Splits the paragraphs, stores them with their texts and digests, and commits to disk."""

    name: ClassVar[str] = OURS
    comparisons: ClassVar[tuple[str, ...]] = ("bm25-index", "bm25-search")
    needs: ClassVar[tuple[str, ...]] = ("numpy", "PyStemmer", "sqlite-utils")
    retriever_name: ClassVar[str] = "bm25"

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Know the number of each passage by its place."""
        self.folder, self.builds = folder, 0
        ids = [document_id_of(paragraph) for paragraph in corpus.paragraphs]
        self.numbers = {(ids[p.paragraph], p.start): number for number, p in enumerate(corpus.passages)}

    def build(self, corpus: Corpus) -> None:
        """Index the paragraphs and open a retriever on them."""
        self.library = self.indexed(corpus)
        self.retriever = self.library.retriever(self.retriever_name)

    def indexed(self, corpus: Corpus) -> Library:
        """A new library of the words of the paragraphs."""
        self.builds += 1
        self.path = self.folder / str(self.builds)
        return paragraph_library((("", paragraph) for paragraph in corpus.paragraphs), self.path)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the passages of the best k hits."""
        hits = self.retriever.search([question], k)[0]
        return [self.numbers[hit.passage.document_id, hit.passage.start] for hit in hits]


class Tfidf(Bm25):
    """The same with TF-IDF."""

    comparisons: ClassVar[tuple[str, ...]] = ("tfidf-search",)
    retriever_name: ClassVar[str] = "tfidf"


class Bm25Kernel(Bm25):
    """The postings and the formula alone: nothing is read from the catalog but the places of ties."""

    comparisons: ClassVar[tuple[str, ...]] = ("bm25-kernel",)

    def build(self, corpus: Corpus) -> None:
        """Index the paragraphs and open their postings."""
        self.library = self.indexed(corpus)
        snapshot = self.library.snapshot
        self.index = PostingsIndex(snapshot.postings(), BM25(), snapshot.places)
        self.number_of = numbers_by_id(snapshot, self.numbers)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k passages."""
        found = self.index.search([self.library.analyzer.question_terms(question)], k)[0]
        return [self.number_of[passage_id] for passage_id in found.passage_ids.tolist()]


class FirstSearch(Bm25):
    """The command line, from its start to its last hit."""

    comparisons: ClassVar[tuple[str, ...]] = ("first-search",)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the passages of the best k hits that `spanwise search` prints."""
        options = ("--index", str(self.path), "--retriever", "bm25", "-k", str(k), "--no-group", "--json")
        hits = answer_of_new_process("-m", "spanwise", "search", question, *options)["hits"]
        return [self.numbers[hit["document"], hit["start"]] for hit in hits]


def numbers_by_id(snapshot: Snapshot, numbers: dict[tuple[str, int], int]) -> dict[int, int]:
    """The number of each passage by its id in the index."""
    ids = snapshot.passage_ids().tolist()
    places = snapshot.places(ids)
    return {passage_id: numbers[place[:2]] for passage_id, place in zip(ids, places, strict=True)}


ENGINES = (Bm25, Tfidf, Bm25Kernel, FirstSearch)
