"""sentence-transformers with FAISS's flat index: the usual way to dense search in Python."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from .....models.locate import find_model
from ..corpus import Corpus

POSITIONS = 512  # as many tokens as ours reads; the model's own default is 256


class Fp32:
    """Its default precision, on the model that is ours."""

    name: ClassVar[str] = "sentence-transformers"
    comparisons: ClassVar[tuple[str, ...]] = ("dense-encode", "dense-index")
    needs: ClassVar[tuple[str, ...]] = ("sentence-transformers", "torch", "transformers", "faiss-cpu")

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the libraries and the model."""
        self.torch: Any = import_module("torch")
        self.faiss: Any = import_module("faiss")
        library: Any = import_module("sentence_transformers")
        self.model = library.SentenceTransformer(str(find_model("base")))
        self.model.max_seq_length = POSITIONS

    def build(self, corpus: Corpus) -> None:
        """Encode the passages and add their vectors, which takes no time beside it."""
        self.add(self.encode(corpus.texts))

    def add(self, vectors: Any) -> None:
        """A new index of these vectors."""
        self.index = self.faiss.IndexFlatIP(vectors.shape[1])
        self.index.add(vectors)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The rows of the best k."""
        _, rows = self.index.search(self.encode([question]), min(k, self.index.ntotal))
        found: list[int] = rows[0].tolist()
        return found

    def encode(self, texts: list[str]) -> Any:
        """(n, width) float32, rows unit-norm."""
        with self.precision():
            return self.model.encode(texts, normalize_embeddings=True, show_progress_bar=False)

    def precision(self) -> AbstractContextManager[Any]:
        """What the model computes in."""
        return nullcontext()


class Bf16(Fp32):
    """Under autocast, as a user does who knows of it."""

    name: ClassVar[str] = "sentence-transformers bf16"

    def precision(self) -> AbstractContextManager[Any]:
        """Matrix products in bf16."""
        autocast: AbstractContextManager[Any] = self.torch.autocast(
            self.model.device.type, dtype=self.torch.bfloat16
        )
        return autocast


class Fp32Search(Fp32):
    """Searches vectors that are given; the question is encoded."""

    name: ClassVar[str] = "sentence-transformers"
    comparisons: ClassVar[tuple[str, ...]] = ("dense-search",)

    def build(self, corpus: Corpus) -> None:
        """Add the vectors."""
        self.add(corpus.given_vectors)


class Bf16Search(Bf16):
    """The same under autocast."""

    name: ClassVar[str] = "sentence-transformers bf16"
    comparisons: ClassVar[tuple[str, ...]] = ("dense-search",)

    def build(self, corpus: Corpus) -> None:
        """Add the vectors."""
        self.add(corpus.given_vectors)


ENGINES = (Fp32, Bf16, Fp32Search, Bf16Search)
