"""The options of searches, answers and summaries, and the progress callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a task, how many of its steps are done, and how many there are."""


def no_progress(task: str, done: int, total: int) -> None:
    """A progress callback that does nothing."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The documents to search: those that meet every condition; without conditions, all.

    `paths` are patterns as in a `.spanwiseignore`: "notes/**", "*.md", "/README.md". One match is enough, the
    last match decides, and "!" in front excludes. `types` are file types ("pdf", "md") or media types
    ("text/html"); one match is enough. `after` is the first moment included, `before` the first excluded: a
    `date`, a `datetime`, or either in ISO 8601, in local time by default. A document's time is its metadata
    "date" where that is ISO 8601, else the time of its file. `metadata` are values that a document must have,
    all of them; keys match in any case.
    """

    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    after: date | str | None = None
    before: date | str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep copies, and reject a bare string, which would be one pattern a character."""
        for name, values in (("paths", self.paths), ("types", self.types)):
            if isinstance(values, str):
                raise ValueError(f"{name} must be a tuple such as ({values!r},), not {values!r}")
            object.__setattr__(self, name, tuple(values))
        object.__setattr__(self, "metadata", dict(self.metadata))


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How passages are ranked.

    `k` is the number of passages. `retriever` is a name ("bm25", "dense", "hybrid", "bm25+colbert", …), an
    object with a method `search`, or "" for the default of the index. `rerank` names the cross-encoder that
    re-ranks the best `rerank_depth` passages ("builtin", a folder, name@revision); "" is none, and
    "bm25+rerank" as the retriever means "builtin". `dedupe` merges near-duplicate passages into the best of
    them. `where` selects documents. `exact` scans every vector, also where an approximate index is faster.
    """

    k: int = 10
    retriever: str | object = ""
    rerank: str = ""
    rerank_depth: int = 30
    dedupe: bool = True
    where: Filter | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        """Reject numbers below 1."""
        if self.k < 1:
            raise ValueError(f"k is {self.k}, expected at least 1")
        if self.rerank_depth < 1:
            raise ValueError(f"rerank_depth is {self.rerank_depth}, expected at least 1")


@dataclass(frozen=True, slots=True)
class AskOptions(SearchOptions):
    """How a question is answered from the best `k` passages.

    `reader` is "builtin", a folder, name@revision, or an object with a method `read`. `threshold` is the
    minimum confidence of an answer: by default the fitted one, 0 always answers. `alternatives` is the number
    of other answers. `read_all` reads all `k` passages, also where the first are enough.
    """

    k: int = 20
    reader: str | object = "builtin"
    threshold: float | None = None
    alternatives: int = 3
    read_all: bool = False

    def __post_init__(self) -> None:
        """Reject numbers out of range."""
        SearchOptions.__post_init__(self)
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold is {self.threshold}, expected 0 to 1")
        if self.alternatives < 0:
            raise ValueError(f"alternatives is {self.alternatives}, expected 0 or more")


QUOTE = "quote"
"""The generator that writes nothing: sentences of the documents are chosen."""


@dataclass(frozen=True, slots=True)
class SummaryOptions(AskOptions):
    """How a summary is made, of the best `k` passages for a question, or the overview of documents.

    `document` names the one document to summarize: its id, a path, or the end of the id. `generator` is
    "quote", "local", FILE.gguf, "hf:OWNER/NAME/FILE@REVISION", a folder or name@revision of a model,
    "openai:MODEL" of the server at `base_url`, or an object with a method `generate`; it writes for at most
    `timeout_s` seconds.
    """

    document: str | None = None
    max_sentences: int = 5
    generator: str | object = QUOTE
    base_url: str = ""
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        """Reject numbers out of range."""
        AskOptions.__post_init__(self)
        if self.max_sentences < 1:
            raise ValueError(f"max_sentences is {self.max_sentences}, expected at least 1")
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise ValueError(f"timeout_s is {self.timeout_s}, expected more than 0")


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Where shards are searched and synced: on the Ray cluster at `address`, or in this process without one.

    "local" starts a cluster on this machine. `replicas` of each shard are kept; with `require_all`, an answer
    from some of the shards is refused.
    """

    address: str | None = None
    replicas: int = 1
    require_all: bool = False
