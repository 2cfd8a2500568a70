"""sentence-transformers' encoder of tokens, with the weights of ours; it has no index, so torch ranks."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..corpus import Corpus
from .torch_maxsim import TorchMaxSim

SAVED = "model"


class Encode(TorchMaxSim):
    """Its default precision."""

    name: ClassVar[str] = "sentence-transformers"
    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-encode",)
    needs: ClassVar[tuple[str, ...]] = ("sentence-transformers", "torch", "transformers")

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Save our model in its format and load that."""
        from .....models.multi_vector_folder import save_token_model
        from .....models.token_encoder import load_token_encoder

        save_token_model(load_token_encoder(device="cpu"), folder / SAVED)
        self.torch = import_module("torch")
        library: Any = import_module("sentence_transformers")
        self.model = library.MultiVectorEncoder(str(folder / SAVED), device="cpu", local_files_only=True)

    def build(self, corpus: Corpus) -> None:
        """Encode the passages."""
        with self.precision():
            rows = self.model.encode_document(corpus.texts, convert_to_numpy=True, show_progress_bar=False)
        self.rows = self.torch.tensor(np.concatenate(rows))
        self.lengths = self.torch.tensor([len(each) for each in rows])

    def search(self, question: str, k: int) -> list[int]:
        """The numbers of the best k passages."""
        with self.precision():
            rows = self.model.encode_query([question], convert_to_numpy=True, show_progress_bar=False)
        return self.ranked(rows[0], k)

    def precision(self) -> AbstractContextManager[Any]:
        """What the model computes in."""
        return nullcontext()


class EncodeBf16(Encode):
    """Under autocast, as a user does who knows of it."""

    name: ClassVar[str] = "sentence-transformers bf16"

    def precision(self) -> AbstractContextManager[Any]:
        """Matrix products in bf16."""
        autocast: AbstractContextManager[Any] = self.torch.autocast("cpu", dtype=self.torch.bfloat16)
        return autocast


class Search(Encode):
    """Encodes the question and compares it with all tokens, which are given."""

    name: ClassVar[str] = "sentence-transformers, torch"
    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-search",)

    def build(self, corpus: Corpus) -> None:
        """Copy the rows into memory."""
        TorchMaxSim.build(self, corpus)


ENGINES = (Encode, EncodeBf16, Search)
