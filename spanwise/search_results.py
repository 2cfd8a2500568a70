"""The values of a search: the hits of a question, and its words as they are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from .documents import Hit
from .options import FilterResult


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """A word of a question by its place: `question[start:end]`, in code points."""

    start: int
    end: int

    def of(self, question: str) -> str:
        """The word itself."""
        return question[self.start : self.end]


@dataclass(frozen=True, slots=True)
class SearchedWord:
    """A word of a question that occurs nowhere, and the word of the documents that is searched instead."""

    term: QuestionTerm
    word: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """A question, and the words of the documents that are searched instead of misspelled ones.

    Attributes:
        question: the question as typed.
        searched_for: misspelled words in their order, each with the word that is searched instead.
        missing_terms: words that occur nowhere and stay.
        is_unknown: no content word of the question occurs in the documents.
        understood: the question that is asked of the documents, where a conversation changes it; else "".
            Places of words are then those in this text.
    """

    question: str
    searched_for: tuple[SearchedWord, ...] = ()
    missing_terms: tuple[QuestionTerm, ...] = ()
    is_unknown: bool = False
    understood: str = ""

    @property
    def uncorrected(self) -> str:
        """The question as understood, else as typed; misspelled words are as typed."""
        return self.understood or self.question

    @property
    def text(self) -> str:
        """The question as it is searched.

        >>> Spelling("a vacaton?", (SearchedWord(QuestionTerm(2, 9), "vacation"),)).text
        'a vacation?'
        """
        text = self.uncorrected
        for searched in reversed(self.searched_for):
            text = text[: searched.term.start] + searched.word + text[searched.term.end :]
        return text


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult(Sequence[Hit]):
    """The hits of a question, best first. It is a sequence of them, and equal to a list of the same hits.

    Attributes:
        hits: the hits.
        spelling: the question as typed and as searched.
        retriever: the name of the retriever, with "+rerank" if the hits were re-ranked.
        scope: what the filter selects; None without a filter.
        left_out: what was not searched, such as "7 of 8 shards"; "" for nothing.
    """

    hits: tuple[Hit, ...]
    spelling: Spelling
    retriever: str
    scope: FilterResult | None = None
    left_out: str = ""

    @property
    def understood(self) -> str:
        """The question that is searched, where a conversation changes it; else ""."""
        return self.spelling.understood

    def __len__(self) -> int:
        """The number of hits."""
        return len(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        """A hit, or a list of hits."""
        return list(self.hits[place]) if isinstance(place, slice) else self.hits[place]

    def __eq__(self, other: object) -> bool:
        """True for a list, a tuple or another result with the same hits."""
        if isinstance(other, (SearchResult, list, tuple)):
            return self.hits == tuple(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as lists and hits have none
