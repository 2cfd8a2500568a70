"""The models of a library by name, each loaded when it is first used."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

from spanwise.errors import IndexEmpty, ModelNotFound, ModelRejected, needing
from spanwise.types import QUOTE, AskOptions, SearchOptions

from ...models.model_files import BUILTIN
from ...reader.generators.protocol import (
    LOCAL as LOCAL,
    OLLAMA,
    OPENAI,
    Generator,
    is_generator,
)
from ...reader.generators.server import OllamaEncoder, is_loopback, ollama_url
from ...retrieval.retrievers import stages_of
from ..folders import user_cache

if TYPE_CHECKING:
    from ...index.store import Store
    from ...reader.evidence import Calibration
    from ...reader.protocol import Reader
    from ...retrieval.protocol import Encoder, Encoders, Scorer, TokenEncoder

T = TypeVar("T")
ModelKind = Literal["encoder", "token-encoder", "cross-encoder", "reader"]

MODEL = "model"  # the setting that names the encoder of the dense vectors, "" for none
DEFAULT_RETRIEVER = "colbert"
WORDS = "bm25"  # the retriever of passages without vectors
WITHOUT_TOKENS = "hybrid"  # the default over an index without token vectors
RERANKER = "builtin"
RERANK_SUFFIX = "+rerank"
COLBERT = "colbert"  # the setting that names the encoder of the token vectors, "" for none
NEXT = "next-"  # the prefix of a setting that names the encoder which the next sync changes to
VECTORS: tuple[tuple[str, str, ModelKind], ...] = (  # stage, setting and kind of each model of vectors
    ("dense", MODEL, "encoder"),
    ("colbert", COLBERT, "token-encoder"),
)
CLOUD = "ollama.com"
NONE = "none"  # instead of the name of a token encoder


def command(verb: str, index: Path) -> str:
    """The shell command that runs a verb on an index."""
    return f"spanwise {verb} --index {shlex.quote(str(index))}"


def model_setting(name: str, kind: ModelKind | None = None) -> str:
    """The name of a model as an index stores it: a folder by its absolute path.

    With a kind, ModelNotFound or ModelRejected for a model that cannot be used as that kind.
    """
    from ...models.model_files import absolute_name

    absolute = absolute_name(name)
    if kind is not None:
        digest_of(absolute, kind)
    return absolute


def digest_of(name: str, kind: ModelKind) -> str:
    """The digest of a model's files, or that a server says; ModelNotFound or ModelRejected without one."""
    if kind == "encoder" and name.startswith(OLLAMA):
        return OllamaEncoder(name.removeprefix(OLLAMA)).digest
    from ...models.model_files import model_digest

    return model_digest(name, kind)


def split_rerank(retriever: str, rerank: str = "") -> tuple[str, str]:
    """The retriever without "+rerank", and the cross-encoder that re-ranks, "" for none.

    >>> split_rerank("bm25+rerank"), split_rerank("bm25", "mine"), split_rerank("bm25")
    (('bm25', 'builtin'), ('bm25', 'mine'), ('bm25', ''))
    """
    below = retriever.removesuffix(RERANK_SUFFIX)
    return below, rerank or (RERANKER if below != retriever else "")


def stages_below(retrievers: Iterable[str]) -> set[str]:
    """The single retrievers that these names need together; `ValueError` for an unknown one.

    >>> sorted(stages_below(["hybrid", "bm25+colbert+rerank"]))
    ['bm25', 'colbert', 'dense']
    """
    return {stage for name in retrievers for stage in stages_of(split_rerank(name)[0])}


def default_retriever(settings: Mapping[str, str]) -> str:
    """The retriever of an index with these settings and all of its vectors, where none is named."""
    return DEFAULT_RETRIEVER if settings.get(COLBERT) else WITHOUT_TOKENS


def sent_to(model: str | object, base_url: str) -> str | None:
    """The host that questions and passages are sent to; None for a model on this machine.

    A server on this machine passes them on for a cloud model of Ollama, whose tag says so.

    >>> sent_to("ollama:gpt-oss:120b-cloud", "")
    'ollama.com, through 127.0.0.1'
    """
    if not (isinstance(model, str) and model.startswith((OPENAI, OLLAMA))):
        return None
    url = base_url or (ollama_url() if model.startswith(OLLAMA) else "")
    host = urlsplit(url).hostname
    if not host:
        return None
    if not is_loopback(host):
        return host
    return f"{CLOUD}, through {host}" if model.endswith(("-cloud", ":cloud")) else None


def chosen_reader(name: str | None, options: AskOptions, readers: Sequence[str]) -> str | object:
    """The reader that a request names, of those that a server offers; ValueError for another one."""
    if name is None:
        return options.reader
    if name not in (BUILTIN, options.reader, *readers):
        raise ValueError(
            f"reader is {name!r}, expected one of {', '.join(dict.fromkeys([BUILTIN, *readers]))}"
        )
    return name


class LoadedModels:
    """The encoders in an index's settings, and readers and cross-encoders by name. Threads may share it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaded: dict[tuple[str, str], Any] = {}
        self._digests: dict[tuple[str, str], str] = {}
        self._loading = RLock()  # a sync and a search may want the same model at once

    @needing("models")
    def encoder(self, name: str = "") -> Encoder:
        """The encoder of that name, by default that of the index; IndexEmpty for an index without one."""
        name = name or self._index_model(MODEL, "dense vectors", "--model base")
        if name.startswith(OLLAMA):
            return self._load_model("encoder", name, lambda name: OllamaEncoder(name.removeprefix(OLLAMA)))
        from ...models.encoder import load_encoder

        return self._load_model("encoder", name, load_encoder)

    def token_encoder(self, name: str = "") -> TokenEncoder:
        """The token encoder of that name, by default that of the index; else IndexEmpty."""
        from ...models.cold_start import load_token_encoder

        name = name or self._index_model(COLBERT, "token vectors", "--colbert builtin")
        return self._load_model("token-encoder", name, load_token_encoder)

    def split(self, options: SearchOptions, default: str = "") -> tuple[str | object, str]:
        """The retriever without re-ranking, by name or as an object, and the cross-encoder that re-ranks."""
        retriever = options.retriever or default or default_retriever(self._store.settings)
        if isinstance(retriever, str):
            return split_rerank(retriever, options.rerank)
        return retriever, options.rerank

    def encoders(self) -> Encoders:
        """Both encoders, each loaded when a retriever needs it."""
        from ...retrieval.protocol import Encoders

        return Encoders(self.encoder, self.token_encoder)

    def reader(self, reader: str | object) -> Reader:
        """The reader of that name, or a user's object, whose results are checked."""
        if not isinstance(reader, str):
            from ...reader.protocol import CheckedReader

            return CheckedReader(reader)
        from ...reader.load import load_reader
        from ..answering.candidates import passage_sentences

        return self._load_model("reader", reader, partial(load_reader, split=passage_sentences))

    @needing("models")
    def cross_encoder(self, name: str) -> Scorer:
        """The model that re-ranks."""
        from ...models.cross_encoder import load_cross_encoder

        return self._load_model("cross-encoder", name, load_cross_encoder)

    def calibration(self, reader: str, digest: str, retriever: str) -> Calibration | None:
        """The calibration of a reader for a retriever, read once."""
        from ...reader.load import calibration_sha256, load_calibration

        def load(name: str) -> Calibration | None:
            self._digests.setdefault(("calibration", reader), calibration_sha256(reader))
            return load_calibration(reader, digest, retriever)

        return self._load("calibration", f"{reader} {retriever}", load)

    def generator(self, generator: str | object, base_url: str = "") -> Generator | None:
        """The generator of that name, or the object given; None for "quote"."""
        if not isinstance(generator, str):
            return cast("Generator", generator)
        from ...reader.generators import load_generator

        load = partial(load_generator, base_url=base_url, cache=user_cache())
        return None if generator == QUOTE else self._load(f"generator {base_url}", generator, load)

    def digest(self, kind: ModelKind, name: str) -> str:
        """The digest of a model's files: as they were when it was loaded, or as they are now."""
        return self._digests.get((kind, name)) or digest_of(name, kind)

    def n_encoded(self, key: str, stored: Mapping[str, int]) -> int:
        """The number of passages with vectors of the model that a setting names; 0 without one.

        `stored` is the number for each digest. Where the model is gone, its vectors are taken for those that
        most passages have.
        """
        name = self._store.settings.get(key, "")
        kinds = {setting: kind for _, setting, kind in VECTORS}
        try:
            return stored.get(self.digest(kinds[key], name), 0) if name else 0
        except (ModelNotFound, ModelRejected):
            return max(stored.values(), default=0)

    def digests(self, options: SearchOptions) -> dict[str, str] | None:
        """The digests of all models that a result depends on; None with a user's own retriever or reader."""
        below, reranker = self.split(options)
        if not isinstance(below, str):
            return None
        settings = self._store.settings
        stages = stages_of(below)
        names: dict[ModelKind, str] = {"cross-encoder": reranker} if reranker else {}
        names |= {
            kind: settings[key] for stage, key, kind in VECTORS if stage in stages and settings.get(key)
        }
        digests = {}
        if isinstance(options, AskOptions):
            if not isinstance(options.reader, str):
                return None
            from ...reader.load import calibration_sha256

            reader = options.reader
            if is_generator(reader):
                model = options.model
                generator = None if model.replay else self.generator(reader, options.base_url)
                if generator is None or not generator.digest or model.record:
                    return None
                digests["generator"] = generator.digest
                reader = BUILTIN
            names["reader"] = reader
            loaded = self._digests.get(("calibration", reader))
            digests["calibration"] = loaded or calibration_sha256(reader)
        return digests | {kind: self.digest(kind, name) for kind, name in names.items()}

    def _index_model(self, key: str, noun: str, option: str) -> str:
        name = self._store.settings.get(key, "")
        if not name:
            raise IndexEmpty(
                f"no passage of {self._store.path} has {noun} yet. Make them with: "
                f"{command('index', self._store.path)} {option}"
            )
        return name

    @needing("models")
    def _load(self, kind: str, name: str, load: Callable[[str], T]) -> T:
        with self._loading:
            if (kind, name) not in self._loaded:
                self._loaded[kind, name] = load(name)
            return cast("T", self._loaded[kind, name])

    def _load_model(self, kind: ModelKind, name: str, load: Callable[[str], T]) -> T:
        def load_between_digests(name: str) -> T:
            before = digest_of(name, kind)
            model = load(name)
            after = digest_of(name, kind)
            self._digests[kind, name] = before if before == after else f"{before} {after}"
            return model

        return self._load(kind, name, load_between_digests)
