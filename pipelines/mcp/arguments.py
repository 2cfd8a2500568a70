"""What a call of each tool may say, with its limits: the input schemas, and the check of every call."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from spanwise.types import Filter

QUESTION_CHARACTERS = 4_096
MOST_PASSAGES = 100
WINDOW_CHARACTERS = 20_000
LISTED = 1_000


def _without_controls(text: str) -> str:
    if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\r" for c in text):
        raise ValueError("holds control characters: send plain text")
    return text


Plain = AfterValidator(_without_controls)
Question = Annotated[
    str, Field(min_length=1, max_length=QUESTION_CHARACTERS, description="What is asked."), Plain
]
Name = Annotated[str, Field(min_length=1, max_length=1_024), Plain]
Retriever = Annotated[
    str | None,
    Field(
        max_length=80,
        pattern=r"^[a-z0-9_-]+(\+[a-z0-9_-]+)*$",
        description="tfidf, bm25, rank_bm25, dense, colbert, hybrid, or a sum such as bm25+colbert. "
        "Leave it out for the default of the index.",
    ),
]
Group = Annotated[bool, Field(description="Fold passages that say nearly the same into one.")]
Rerank = Annotated[
    bool, Field(description="Let a cross-encoder rank the best passages anew: better, and slower.")
]


class Arguments(BaseModel):
    """Arguments of a tool; what is not among them is refused, and nothing is guessed from another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Where(Arguments):
    """Which documents are searched: those that meet every condition given."""

    paths: Annotated[list[Name], Field(max_length=100)] = Field(
        default=[], description="Patterns such as 'town/**' or '*.md': any of them; '!' leaves out."
    )
    types: Annotated[list[Name], Field(max_length=100)] = Field(
        default=[], description="File types such as pdf, md: any of them."
    )
    after: Name | None = Field(default=None, description="Dated then or later: 2024-01-31.")
    before: Name | None = Field(default=None, description="Dated earlier than that.")
    metadata: Annotated[dict[Name, Name], Field(max_length=20)] = Field(
        default={}, description="Values that a document must have, such as language: de."
    )


class Searching(Arguments):
    """What all tools that search take."""

    retriever: Retriever = None
    group: Group = True
    rerank: Rerank = False
    where: Where | None = None

    def filter(self) -> Filter | None:
        """The filter that `where` asks for, or None."""
        given = self.where
        if given is None or given == Where():
            return None
        return Filter(tuple(given.paths), tuple(given.types), given.after, given.before, given.metadata)


class Search(Searching):
    """Arguments of `search`."""

    question: Question
    k: Annotated[int, Field(ge=1, le=MOST_PASSAGES, description="How many passages.")] = 10


class Ask(Searching):
    """Arguments of `ask`."""

    question: Question
    k: Annotated[int, Field(ge=1, le=MOST_PASSAGES, description="How many passages are read.")] = 20
    alternatives: Annotated[int, Field(ge=0, le=20, description="How many other answers.")] = 3
    threshold: Annotated[
        float | None, Field(ge=0, le=1, description="Least confidence that is shown; 0 always answers.")
    ] = None
    read_all: Annotated[bool, Field(description="Read all k passages, also where the first do.")] = False


class Summarize(Searching):
    """Arguments of `summarize`."""

    question: Question | None = None
    document: Annotated[Name | None, Field(description="Summarize this one: its id, or the end of it.")] = (
        None
    )
    length: Literal["short", "medium", "long"] = "medium"
    strict: Annotated[bool, Field(description="Drop sentences that are not supported.")] = False
    k: Annotated[int, Field(ge=1, le=MOST_PASSAGES, description="How many passages.")] = 20


class ReadPassage(Arguments):
    """Arguments of `read_passage`: a passage by its number, or a window of a document by its offsets."""

    passage: Annotated[int | None, Field(ge=1, description="The number of a passage, from a hit.")] = None
    document: Annotated[Name | None, Field(description="The id of a document.")] = None
    start: Annotated[int | None, Field(ge=0, description="The first character, counted from 0.")] = None
    end: Annotated[int | None, Field(ge=0, description="The character after the last.")] = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.passage is None) == (self.document is None):
            raise ValueError("give either passage, or document with start and end")
        if self.passage is not None and (self.start is not None or self.end is not None):
            raise ValueError("start and end go with document: a passage has its own")
        if self.end is not None and self.end <= (self.start or 0):
            raise ValueError(f"end {self.end} is not after start {self.start or 0}")
        if self.end is not None and self.end - (self.start or 0) > WINDOW_CHARACTERS:
            raise ValueError(f"a window holds at most {WINDOW_CHARACTERS:,} characters: ask for less")
        return self


class ListDocuments(Arguments):
    """Arguments of `list_documents`."""

    path: Annotated[Name | None, Field(description="A pattern such as 'town/**' or '*.pdf'.")] = None
    limit: Annotated[int, Field(ge=1, le=LISTED)] = 100
    offset: Annotated[int, Field(ge=0, le=2**53)] = 0


class Status(Arguments):
    """Arguments of `status`: none."""


def mistakes(error: ValidationError) -> str:
    """What is wrong with the arguments, in one line and without their values.

    >>> try:
    ...     Search.model_validate({"question": "who?", "k": 1000})
    ... except ValidationError as error:
    ...     print(mistakes(error))
    k: Input should be less than or equal to 100
    """
    told = (
        (".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, ")) for one in error.errors()
    )
    return "; ".join(f"{place}: {message}" if place else message for place, message in told)
