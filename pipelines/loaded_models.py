"""The models of one library: loaded when first needed, and known before that if they were ever loaded.

Loading a model takes seconds and heavy libraries; looking up an answer takes only the model's digest. So that
is kept in the cache under the fingerprint of the model's files, and found there as long as they stay so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from spanwise.types import EXTRACTIVE, ProgressCallback

from .cache_file import CacheFile
from .plugged import Plugged

if TYPE_CHECKING:
    from ..models.cross_encoder import CrossEncoder
    from ..models.dual_encoder import SearchEncoder
    from ..reader.generator import Generator
    from ..reader.protocol import Reader
    from ..reader.span_reader import SpanReader
    from ..retrieval.protocol import Encoder, Retriever, TokenEncoder
    from .colbert_setting import ColbertSetting
    from .reranking import Reranking

MODEL, QUESTION = "model", "vector"  # kinds of entries of the cache

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The state of a model's files, the digest of its weights, and the width of an encoder's vectors."""

    files: str
    digest: str
    width: int = 0


class LoadedModels:
    """Encoders and readers by the names they are loaded by; `cache` knows those of earlier processes."""

    def __init__(self, cache: CacheFile | None) -> None:
        self._cache = cache
        self._loaded: dict[tuple[str, str], Any] = {}
        self._known: dict[tuple[str, str], KnownModel | None] = {}
        self._question_encoders: dict[KnownModel, Encoder] = {}
        self.plugged = Plugged()
        self._loading = RLock()  # a sync and a search may want the same model at once

    def encoder(self, name: str) -> SearchEncoder:
        """The encoder of passages and questions."""
        from ..models.dual_encoder import load_encoder

        return self._load("encoder", name, load_encoder)

    def token_encoder(self, name: str) -> TokenEncoder:
        """The encoder of the tokens of passages and questions."""
        from ..models.token_encoder import load_token_encoder

        return self._load("tokens", name, load_token_encoder)

    def reader(self, name: str) -> SpanReader:
        """The reader of answer spans."""
        from ..corpora.sentences import sentence_spans
        from ..reader.load import load_reader

        return self._load("reader", name, partial(load_reader, split=sentence_spans))

    def any_reader(self, name: str) -> Reader:
        """The reader of that name, of a plug-in or given in code; else the one of a folder or a model."""
        return (None if name == "builtin" else self.plugged.reader(name)) or self.reader(name)

    def cross_encoder(self, name: str) -> CrossEncoder:
        """The model that re-ranks."""
        from ..models.cross_encoder import load_cross_encoder

        return self._load("rerank", name, load_cross_encoder)

    def generator(self, given: str | object) -> Generator | None:
        """The generator of that name, or the object given; None for "extractive"."""
        from ..reader.generator import load_generator

        if given == EXTRACTIVE:
            return None
        with self._loading:
            if isinstance(given, str) and ("generator", given) not in self._loaded:
                self._loaded["generator", given] = load_generator(given)
        found: Generator = self._loaded["generator", given] if isinstance(given, str) else given
        return found

    def reranked(self, retriever: Retriever, how: Reranking, on_progress: ProgressCallback) -> Retriever:
        """The retriever with its best hits ranked anew."""
        from ..retrieval.reranking import RerankingRetriever

        return RerankingRetriever(
            retriever, self.cross_encoder(how.model), how.depth, partial(on_progress, "rerank")
        )

    def use_encoder(self, name: str, encoder: SearchEncoder) -> None:
        """Take this object for the encoder of that name; of its files nothing is known."""
        self._loaded["encoder", name], self._known["encoder", name] = encoder, None

    def known_encoder(self, name: str) -> KnownModel | None:
        """What is known of an encoder without loading it."""
        return self._known_model("encoder", name)

    def known_to_search(
        self, name: str, colbert: ColbertSetting | None, retriever: str, reranking: Reranking | None
    ) -> dict[str, object]:
        """The models that a retriever needs beside the index, None for one that is not known."""
        from ..retrieval.retrievers import stages_of

        others = self.plugged.retrievers(retriever)
        stages = stages_of(retriever, others)
        known: dict[str, object] = {"encoder": self.known_encoder(name)} if "dense" in stages else {}
        known |= {f"plugin {name}": source.state for name, source in others.items()}
        if "colbert" in stages:
            known["tokens"] = self._known_model("tokens", colbert.name) if colbert else None
        if reranking is not None:
            known["rerank"] = self._known_model("rerank", reranking.model)
        return known

    def known_to_ask(
        self,
        name: str,
        colbert: ColbertSetting | None,
        retriever: str,
        reader: str,
        reranking: Reranking | None,
    ) -> dict[str, object]:
        """The models that answering needs, and the reader's calibration as it is now."""
        from ..reader.load import calibration_sha256

        known = self.known_to_search(name, colbert, retriever, reranking)
        known |= {"encoder": self.known_encoder(name)}
        if reader != "builtin" and self.plugged.reader(reader) is not None:
            return known | {"plugged reader": self.plugged.reader_state(reader)}
        known |= {"reader": self._known_model("reader", reader), "calibration": calibration_sha256(reader)}
        return known

    def question_encoder(self, name: str) -> Encoder:
        """The encoder, or one that stands for it, remembers vectors, and loads it for others."""
        from .question_vectors import QuestionEncoder

        if self.known_encoder(name) is None:
            self.encoder(name)
        known = self.known_encoder(name)
        if known is None or self._cache is None:
            return self.encoder(name)
        if known not in self._question_encoders:
            self._question_encoders[known] = QuestionEncoder(known, lambda: self.encoder(name), self._cache)
        return self._question_encoders[known]

    def _load(self, kind: str, name: str, load: Callable[[str], M]) -> M:
        """The model; what is to be known of it is kept unless its files changed while they were read."""
        with self._loading:
            if (kind, name) not in self._loaded:
                self._keep(kind, name, load)
            loaded: M = self._loaded[kind, name]
        return loaded

    def _keep(self, kind: str, name: str, load: Callable[[str], Any]) -> None:
        files = _fingerprint(kind, name) if self._cache else None
        model, known = load(name), None
        if self._cache and files is not None and files == _fingerprint(kind, name):
            known = KnownModel(files, model.digest, getattr(model, "width", 0))
            self._cache.put(MODEL, f"{kind} {files}", json.dumps(asdict(known)).encode())
        self._loaded[kind, name], self._known[kind, name] = model, known

    def _known_model(self, kind: str, name: str) -> KnownModel | None:
        if (kind, name) in self._known:
            return self._known[kind, name]
        files = _fingerprint(kind, name) if self._cache else None
        found = self._cache.get(MODEL, f"{kind} {files}") if self._cache and files else None
        return KnownModel(**json.loads(found)) if found else None


def _fingerprint(kind: str, name: str) -> str | None:
    if kind == "reader":
        from ..reader.load import reader_fingerprint

        return reader_fingerprint(name)
    from ..models import fingerprint

    if kind == "rerank":
        return fingerprint.cross_encoder_fingerprint(name)
    if kind == "tokens":
        return fingerprint.token_model_fingerprint(name)
    return fingerprint.model_fingerprint(name)
