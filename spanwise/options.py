"""The options of searches, answers and summaries, filters with their results, and the progress callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a task, the number of steps that are complete, and the number of all steps."""


def no_progress(task: str, done: int, total: int) -> None:
    """A progress callback that does nothing."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The documents to search: those that meet every condition. Without conditions: all documents.

    The time of a document is its metadata "date" where that is ISO 8601, else the time of its file.

    Attributes:
        paths: patterns as in a `.spanwiseignore`: "notes/**", "*.md", "/README.md". One match is enough. The
            last match decides; "!" in front excludes.
        types: file types ("pdf", "md") or media types ("text/html"). One match is enough.
        after: the first moment included: a `date`, a `datetime`, or either in ISO 8601, local by default.
        before: the first moment excluded, in the same forms.
        metadata: values that a document must have, all of them. Keys match in any case.
    """

    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    after: date | str | None = None
    before: date | str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep copies; `ValueError` for a bare string, which would become one pattern per character."""
        for name, values in (("paths", self.paths), ("types", self.types)):
            if isinstance(values, str):
                raise ValueError(f"{name} must be a tuple such as ({values!r},), not {values!r}")
            object.__setattr__(self, name, tuple(values))
        object.__setattr__(self, "metadata", dict(self.metadata))


Turn = Mapping[str, str]
"""A turn of a conversation: its "role" and its "content"."""

MAX_TURNS = 10
MAX_CONTENT = 4_096  # characters of a turn


def checked_history(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns that count, with role and content alone; `ValueError` for those that are no text."""
    turns = []
    for turn in history:
        role = turn.get("role") if isinstance(turn, Mapping) else None
        if not (isinstance(role, str) and isinstance(content := turn.get("content"), str)):
            raise ValueError(f'history has {turn!r}, expected {{"role": "user", "content": "…"}}')
        if role in ("user", "assistant"):
            turns.append({"role": role, "content": content[:MAX_CONTENT]})
    return tuple(turns[-MAX_TURNS:])


@dataclass(frozen=True, slots=True)
class FilterResult:
    """What a filter selects.

    Attributes:
        where: the filter.
        documents: the number of documents that it selects.
        of_documents: the number of all documents.
        passages: the number of passages of the selected documents.
        nearest_path: if nothing matches: a path pattern close to the filter's that does match, else "".
    """

    where: Filter
    documents: int
    of_documents: int
    passages: int
    nearest_path: str = ""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How passages are ranked.

    Attributes:
        k: the number of passages.
        retriever: a name ("bm25", "dense", "hybrid", "bm25+colbert", …) or an object with a method `search`;
            "" is the default of the index. "bm25+rerank" re-ranks with the built-in cross-encoder.
        rerank: the cross-encoder that re-ranks: "builtin", a folder, or name@revision; "" for none.
        rerank_depth: the number of passages that are re-ranked.
        dedupe: merge near-duplicate passages into the best of them.
        where: the documents to search; None for all.
        exact: compare every vector, also where an approximate index is faster.
        history: the conversation before the question, oldest turn first: {"role": "user" or "assistant",
            "content": text}. Other roles are ignored. The last 10 turns count, 4,096 characters of each.
    """

    k: int = 10
    retriever: str | object = ""
    rerank: str = ""
    rerank_depth: int = 30
    dedupe: bool = True
    where: Filter | None = None
    exact: bool = False
    history: Sequence[Turn] = ()

    def __post_init__(self) -> None:
        """`ValueError` for numbers below 1, and for a history that has another form."""
        object.__setattr__(self, "history", checked_history(self.history))
        if self.k < 1:
            raise ValueError(f"k is {self.k}, expected at least 1")
        if self.rerank_depth < 1:
            raise ValueError(f"rerank_depth is {self.rerank_depth}, expected at least 1")


MAX_SEARCHES = 2


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model reads passages and writes an answer from them.

    Attributes:
        searches: how often it may search again, 0 to 2.
        search_first: it names words to search for before the first search.
        strict: drop a sentence with a content word that its passages do not have.
        fallback: the built-in reader answers where the model fails.
        record: a file that gets the model's replies; "" for none.
        replay: such a file, which replies instead of the model; "" for none.
        requests: the most requests for a question.
        idle_s: the longest wait in seconds for a byte of a server.
        total_s: the longest time in seconds for a question.
    """

    searches: int = 1
    search_first: bool = False
    strict: bool = False
    fallback: bool = False
    record: str = ""
    replay: str = ""
    requests: int = 5
    idle_s: float = 60.0
    total_s: float = 300.0

    def __post_init__(self) -> None:
        """`ValueError` for numbers out of range, and for a record that is replayed."""
        if not 0 <= self.searches <= MAX_SEARCHES:
            raise ValueError(f"searches is {self.searches}, expected 0 to {MAX_SEARCHES}")
        for name in ("requests", "idle_s", "total_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}, expected more than 0")
        if self.record and self.replay:
            raise ValueError("a model's replies are either recorded or replayed")


@dataclass(frozen=True, slots=True)
class AskOptions(SearchOptions):
    """How a question is answered from the best `k` passages. The other fields are those of `SearchOptions`.

    Attributes:
        k: the number of passages to read.
        reader: "builtin"; "fast", which reads once; a folder, name@revision, or an object with a method
            `read`. A model that writes: "ollama:MODEL", "openai:MODEL" of the server at `base_url`,
            FILE.gguf, "hf:OWNER/NAME/FILE@REVISION", "local", or an object with a method `generate`.
        base_url: the address of the server of an "openai:" or "ollama:" model.
        model: how a model that writes is asked.
        threshold: minimum confidence of an answer. None is the fitted threshold; 0 always answers.
        alternatives: the number of other answers.
        read_all: read all `k` passages, also where the first ones are enough.
    """

    k: int = 20
    reader: str | object = "builtin"
    threshold: float | None = None
    alternatives: int = 3
    read_all: bool = False
    base_url: str = ""
    model: ModelOptions = ModelOptions()

    def __post_init__(self) -> None:
        """`ValueError` for numbers out of range."""
        SearchOptions.__post_init__(self)
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold is {self.threshold}, expected 0 to 1")
        if self.alternatives < 0:
            raise ValueError(f"alternatives is {self.alternatives}, expected 0 or more")


QUOTE = "quote"
"""The generator that writes nothing: sentences of the documents are quoted."""

Decider = Literal["reader", "model"]
"""What decides whether there is an answer: the built-in reader, or a model that writes it."""


@dataclass(frozen=True, slots=True)
class SummaryOptions(AskOptions):
    """How a summary is made: from the best `k` passages for a question, or as an overview of documents.

    The other fields are those of `AskOptions`.

    Attributes:
        document: the document to summarize: its id, a path, or the end of the id. None for all documents.
        max_sentences: the maximum number of sentences.
        generator: "quote", "local", FILE.gguf, "hf:OWNER/NAME/FILE@REVISION", a folder or name@revision of a
            model, "openai:MODEL" or "ollama:MODEL" of the server at `base_url`, or an object with a method
            `generate`.
    """

    document: str | None = None
    max_sentences: int = 5
    generator: str | object = QUOTE

    def __post_init__(self) -> None:
        """`ValueError` for numbers out of range."""
        AskOptions.__post_init__(self)
        if self.max_sentences < 1:
            raise ValueError(f"max_sentences is {self.max_sentences}, expected at least 1")


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Where shards are searched and synced.

    Attributes:
        address: the Ray cluster; "local" starts one on this machine, None works in this process.
        replicas: the number of copies of each shard on the cluster.
        require_all: refuse an answer from some of the shards.
    """

    address: str | None = None
    replicas: int = 1
    require_all: bool = False
