"""The vectors of questions asked before, in memory and in the cache file.

A vector depends on the encoder and on the text alone, so it outlives every commit. With a known encoder a
known question is searched for without loading the model.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import ModelMismatch

from .cache_file import CacheFile
from .loaded_models import QUESTION, KnownModel

if TYPE_CHECKING:
    from ..retrieval.protocol import Encoder

IN_MEMORY = 1024


class QuestionEncoder:
    """An encoder that remembers; several texts at once are encoded as they are.

    For the last digits of a vector depend on the texts beside it, and what is remembered must be what would
    be computed.
    """

    def __init__(self, known: KnownModel, load: Callable[[], Encoder], file: CacheFile) -> None:
        self.digest, self.width = known.digest, known.width
        self._files, self._load, self._file = known.files, load, file
        self._recent: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text: (len(texts), width) float32."""
        if len(texts) != 1:
            return self._loaded().encode_questions(texts)
        key = self._key(texts[0])
        vector = self._recent.pop(key, None)
        if vector is None:
            vector = self._stored(key)
        self._file.count(QUESTION, key, vector is not None)
        if vector is None:
            [vector] = self._loaded().encode_questions(texts)
            self._file.put(QUESTION, key, vector.astype("<f4").tobytes())
        self._recent[key] = vector
        if len(self._recent) > IN_MEMORY:
            self._recent.popitem(last=False)
        return vector[np.newaxis].copy()

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """What the encoder gives; passages are not remembered."""
        return self._loaded().encode_passages(texts, on_progress)

    def _loaded(self) -> Encoder:
        encoder = self._load()
        if encoder.digest != self.digest:
            raise ModelMismatch(
                f"the model's files changed while the library was open: its digest was {self.digest}, "
                f"now it is {encoder.digest}; open the library again"
            )
        return encoder

    def _key(self, text: str) -> str:
        named = repr((self._files, self.digest, text)).encode("utf-8", "surrogatepass")
        return hashlib.sha256(named).hexdigest()

    def _stored(self, key: str) -> NDArray[np.float32] | None:
        found = self._file.get(QUESTION, key)
        if found is None or len(found) != 4 * self.width:
            return None
        return np.frombuffer(found, "<f4").astype(np.float32)
