"""The options that several verbs share, in groups, and how a verb finds its library."""

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer import Argument, BadParameter, Context, Option, Typer

from spanwise.options import MAX_SEARCHES
from spanwise.types import ClusterOptions, Filter, ModelOptions, SearchOptions

from ..folders import file_of, files_named, index_in, nearest_index, resolve_index
from ..library.library import Library
from ..library.loaded_models import DEFAULT_RETRIEVER, LOCAL, RERANK_SUFFIX, RERANKER, sent_to
from ..open import open, open_index
from .show import say

Options = TypeVar("Options", bound=SearchOptions)


def _local_model(context: Context, name: str) -> str:
    """The model that `spanwise.toml` names in place of "local", if any."""
    tables = context.find_root().default_map or {}
    return str(tables.get("generator", {}).get(LOCAL, LOCAL)) if name == LOCAL else name


Folder = Annotated[Path | None, Argument(help="An indexed folder. Default: the nearest index upward.")]
SyncedFolder = Annotated[Path | None, Argument(help="A folder to sync first. Default: the nearest index.")]
Index = Annotated[Path | None, Option(help="The index: its directory, or a folder with a .spanwise.")]
Retriever = Annotated[
    str | None,
    Option(
        help="tfidf, bm25, dense, colbert, hybrid (bm25+dense), or a fusion such as bm25+colbert. "
        f"Default: {DEFAULT_RETRIEVER}."
    ),
]
Rerank = Annotated[bool, Option("--rerank", help="Re-rank by reading with the question.")]
READERS = (
    "builtin, fast, a folder or name@revision; or a model that reads and writes: ollama:MODEL, openai:MODEL "
    "with --base-url, FILE.gguf, or local."
)
Reader = Annotated[str, Option(callback=_local_model, help=READERS)]
Readers = Annotated[
    list[str] | None,
    Option(
        "--reader", metavar="NAME", help=f"{READERS} Repeatable: the first answers where none is asked for."
    ),
]
Generator = Annotated[
    str,
    Option(
        callback=_local_model,
        help="What writes sentences: quote (nothing is written), local (a small model), FILE.gguf, "
        "hf:OWNER/NAME/FILE@REVISION, a folder of transformers, ollama:MODEL, or openai:MODEL with "
        "--base-url.",
    ),
]
BaseUrl = Annotated[
    str,
    Option(metavar="URL", help="Server of an openai: or ollama: model, such as http://127.0.0.1:1234/v1."),
]
Dedupe = Annotated[bool, Option(help="Merge near-duplicate passages.")]
Json = Annotated[bool, Option("--json", help="Print JSON.")]
NoWait = Annotated[
    bool, Option("--no-wait", help="End after the answer; missing vectors of the folder stay missing.")
]
Verbose = Annotated[bool, Option("--verbose", help="Say what was searched, and how long it took.")]
Ray = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="Use this Ray cluster for an index of shards; local starts one on this machine.",
    ),
]


def grouped(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with one parameter per option, as typer needs it, in place of each group of options.

    A group is a parameter whose type is a dataclass of options.
    """
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(verb, eval_str=True).parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            parameters += inspect.signature(groups[name], eval_str=True).parameters.values()
        else:
            parameters.append(parameter)
    parameters = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]

    @wraps(verb)
    def call(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        verb(**values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


@dataclass(frozen=True, slots=True)
class RankingGroup:
    """How passages are ranked."""

    retriever: Retriever = None
    rerank: Rerank = False
    rerank_model: Annotated[
        str | None,
        Option(metavar="NAME", help="What --rerank reads with: builtin (the reader), or a cross-encoder."),
    ] = None


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """Which documents are searched, and whether near-duplicates in the results are merged."""

    dedupe: Dedupe = True
    path: Annotated[
        list[str] | None,
        Option(
            metavar="GLOB",
            help="Only documents with this path or below this folder, e.g. 'notes/**'; '!drafts/' excludes. "
            "Repeatable.",
        ),
    ] = None
    type: Annotated[
        list[str] | None, Option(metavar="TYPE", help="Only this type: pdf, md, text/html. Repeatable.")
    ] = None
    after: Annotated[
        str | None, Option(metavar="DATE", help="Only documents from this date on: 2024-01-31.")
    ] = None
    before: Annotated[str | None, Option(metavar="DATE", help="Only documents before this date.")] = None
    meta: Annotated[
        list[str] | None,
        Option(
            metavar="KEY=VALUE",
            help="Only documents with this metadata, e.g. author=Rook. Repeatable: all must match.",
        ),
    ] = None

    def filter(self) -> Filter | None:
        """The filter; None without a condition."""
        metadata: dict[str, str] = {}
        for pair in self.meta or ():
            key, equals, value = pair.partition("=")
            if not key or not equals:
                raise BadParameter(f"{pair!r} is not KEY=VALUE, e.g. author=Rook", param_hint="--meta")
            if key in metadata:
                raise BadParameter(f"{key!r} is given twice", param_hint="--meta")
            metadata[key] = value
        where = Filter(tuple(self.path or ()), tuple(self.type or ()), self.after, self.before, metadata)
        return None if where == Filter() else where


@dataclass(frozen=True, slots=True)
class ModelGroup:
    """How a model of --reader is asked."""

    searches: Annotated[int, Option(min=0, max=MAX_SEARCHES, help="How often a model may search again.")] = 1
    search_first: Annotated[
        bool, Option("--search-first", help="A model names words to search for before the first search.")
    ] = False
    strict: Annotated[
        bool, Option("--strict", help="Drop a written sentence with a word that its passages do not have.")
    ] = False
    fallback: Annotated[
        bool, Option("--fallback", help="Where a model fails, the built-in reader answers.")
    ] = False
    record: Annotated[
        str,
        Option(
            metavar="FILE", help="Add the replies of a model to this file; it holds your documents' words."
        ),
    ] = ""
    replay: Annotated[
        str, Option(metavar="FILE", help="Take the replies of a model from such a file; nothing is sent.")
    ] = ""
    max_requests: Annotated[int, Option(min=1, help="Requests to a model for a question.")] = 5
    idle_s: Annotated[float, Option(min=0.1, help="Seconds to wait for a byte of a model's server.")] = 60.0
    total_s: Annotated[float, Option(min=0.1, help="Seconds for all requests of a question.")] = 300.0

    def options(self) -> ModelOptions:
        """The options as an object of the API."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return ModelOptions(requests=values.pop("max_requests"), **values)


def say_what_is_sent(models: Iterable[str], base_url: str, texts: str = "passages") -> None:
    """Say on stderr what leaves this machine, if one of the models is on another one."""
    for host in dict.fromkeys(filter(None, (sent_to(model, base_url) for model in models))):
        say(f"each question and the {texts} found for it are sent to {host}")


@dataclass(frozen=True, slots=True)
class ClusterGroup:
    """Where shards are searched."""

    ray: Ray = None
    replicas: Annotated[int, Option(min=1, help="With --ray: copies of each shard in memory.")] = 1
    require_all_shards: Annotated[
        bool, Option("--require-all-shards", help="Refuse to answer from some of the shards.")
    ] = False

    def options(self) -> ClusterOptions:
        """The options as an object of the API."""
        return ClusterOptions(self.ray, self.replicas, self.require_all_shards)


def options_of(kind: type[Options], ranking: RankingGroup, results: ResultGroup, **options: Any) -> Options:
    """The options object of a verb that searches."""
    return kind(
        retriever=ranking.retriever or "",
        rerank=ranking.rerank_model or (RERANKER if ranking.rerank else ""),
        dedupe=results.dedupe,
        where=results.filter(),
        **options,
    )


def verbs(purpose: str) -> Typer:
    """A verb with subcommands, such as `eval`."""
    return Typer(help=purpose, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def question_and_folder(
    question: str | None, folder: Path | None, index: Path | None
) -> tuple[str | None, Path | None]:
    """The question and the folder; a single argument that is a folder is no question."""
    if question and folder is index is None and Path(question).is_dir():
        return None, Path(question)
    return question, folder


def in_index_above(
    folder: Path | None, index: Path | None, results: ResultGroup
) -> tuple[Path | None, Path | None, ResultGroup]:
    """The folder, index and filter of a verb; a folder without an index is a part of the one above."""
    above = None
    if folder is not None and index is None and folder.is_dir() and not index_in(folder.resolve()):
        above = next(filter(index_in, folder.resolve().parents), None)
    if folder is None or above is None:
        return folder, index, results
    with open_index(above) as library:
        path = library.store.path
        roots = library.roots
    for name, _ in files_named(str(folder.resolve()), roots):
        if root := file_of(name, roots)[0]:
            say(f"uses the index of {root.folder}; for its own: spanwise index {shlex.quote(str(folder))}")
            return root.folder, path, replace(results, path=patterns_below(name, results.path or ()))
    return folder, index, results


def patterns_below(folder: str, patterns: Sequence[str]) -> list[str]:
    """The patterns of a path below a folder; a pattern may begin with the folder.

    >>> patterns_below("notes/old", ["*.md", "a/b", "notes/old/c", "!drafts/"])
    ['/notes/old/**/*.md', '/notes/old/a/b', '/notes/old/c', '!/notes/old/**/drafts/']
    """
    start = "/" + re.sub(r"([\\*?\[\]])", r"\\\1", folder) + "/"
    below = [start] if not patterns or patterns[0].startswith("!") else []
    for pattern in patterns:
        mark = "!" if pattern.startswith("!") else ""
        inner = pattern.removeprefix(mark).removeprefix("./")
        depth = "" if "/" in inner.rstrip("/") else "**/"
        place = "/" + inner.removeprefix("/")
        is_whole = f"{place}/".startswith(start)
        below.append(mark + (place if is_whole else f"{start}{depth}{place[1:]}"))
    return below


def library_of(folder: Path | None, index: Path | None, cluster: ClusterOptions | None = None) -> Library:
    """The library of the folder, of the named index, or of the nearest index upward."""
    if folder is None:
        return open_index(index_of(index), cluster=cluster)
    return open(folder, index, cluster=cluster)


def index_of(index: Path | None) -> Path:
    """The directory of the named index, or of the nearest one upward."""
    return nearest_index(Path.cwd()) if index is None else resolve_index(index)


def say_if_empty(library: Library) -> None:
    """Say on stderr how to fill an empty index."""
    with library.reading() as snapshot:
        is_empty = not snapshot.n_passages
    if is_empty:
        say(f"{library.store.path} has no passages yet. Fill it with: {library.sync_command}")


def reranked(names: Sequence[str], rerank: bool) -> list[str]:
    """The retrievers; with `rerank`, each name ends with "+rerank".

    >>> reranked(["bm25", "bm25+rerank"], True)
    ['bm25+rerank', 'bm25+rerank']
    """
    return [f"{name.removesuffix(RERANK_SUFFIX)}{RERANK_SUFFIX}" if rerank else name for name in names]
