"""What may be asked for: every field with its bounds; a field that is not known is an error."""

from __future__ import annotations

from typing import Annotated, Literal
from unicodedata import category

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from spanwise.types import Filter

from ..ask import checked_question
from ..models import split_rerank

MOST_CHARACTERS = 512  # of a pattern, an id, a value of metadata
_WHITE_SPACE = "\t\n\r"


def plain(text: str) -> str:
    """The text itself; ValueError for control characters other than white space, and for halves of pairs.

    >>> plain("who founded the mill?")
    'who founded the mill?'
    """
    for character in text:
        if category(character) in ("Cc", "Cs") and character not in _WHITE_SPACE:
            raise ValueError(f"U+{ord(character):04X} is no character of a question")
    return text


def known_retriever(name: str) -> str:
    """The name; ValueError for one that is not among those there are."""
    from ...retrieval.retrievers import stages_of

    stages_of(split_rerank(name)[0])
    return name


Question = Annotated[str, AfterValidator(plain), AfterValidator(checked_question)]
Name = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(plain)]
Names = Annotated[list[Name], Field(max_length=32)]
Retriever = Annotated[str, Field(max_length=64), AfterValidator(known_retriever)]


class Strict(BaseModel):
    """A body of which every field is known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Where(Strict):
    """Which documents are searched, as `Filter` has it."""

    paths: Names = []
    types: Names = []
    after: Name | None = None
    before: Name | None = None
    metadata: Annotated[dict[Name, Name], Field(max_length=32)] = {}

    def filter(self) -> Filter | None:
        """The filter; None when nothing is asked of a document."""
        where = Filter(tuple(self.paths), tuple(self.types), self.after, self.before, self.metadata)
        return None if where == Filter() else where


class Ranked(Strict):
    """What every question may say about the ranking of passages."""

    retriever: Retriever | None = None
    group: bool = True
    where: Where = Field(default_factory=Where, json_schema_extra={"default": Where().model_dump()})
    rerank: bool = False

    @property
    def filter(self) -> Filter | None:
        """Which documents are searched."""
        return self.where.filter()


class SearchRequest(Ranked):
    """The body of a search."""

    question: Question
    k: Annotated[int, Field(ge=1)] = 10


class Asking(Ranked):
    """The options of a question that is answered."""

    k: Annotated[int, Field(ge=1)] = 20
    alternatives: Annotated[int, Field(ge=0, le=100)] = 3
    threshold: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None
    read_all: bool = False


class AskRequest(Asking):
    """The body of a question that is answered or explained."""

    question: Question


class SummarizeRequest(Ranked):
    """The body of a summary: of what answers a question, of a document, or of all that `where` leaves."""

    question: Question | None = None
    document: Name | None = None
    length: Literal["short", "medium", "long"] = "medium"
    strict: bool = False
    stream: bool = False
    k: Annotated[int, Field(ge=1)] = 20
