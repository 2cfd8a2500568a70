"""Models of others, loaded by sentence-transformers behind the interfaces of our own.

    ForeignEncoder         SentenceTransformer: one vector a text, compared by cosine
    ForeignTokenEncoder    MultiVectorEncoder: one vector a token (ColBERT, PyLate and their relatives)
    ForeignCrossEncoder    CrossEncoder with one score a pair

Prompts, limits, pooling and layers are those of the model's folder; `locate.checked_folder` has refused
pickles and code before a folder gets here. Matrix products run in bf16 where the hardware has it. Importing
sentence-transformers takes seconds, which only these models pay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray

from spanwise.errors import ModelRejected

from .batching import BUDGETS, Batcher, Vectors, no_progress, split_scores
from .load import load_network
from .model_files import CONFIG, folder_digest, read_json
from .precision import autocast
from .tokenizer import quietly
from .weights import require_finite

Factory = Literal["SentenceTransformer", "MultiVectorEncoder", "CrossEncoder"]
CHARACTERS_PER_TOKEN = 4  # to plan batches; more tokens than planned cost memory, which `Batcher` handles
PLANNED_TOKENS = 512
_MODEL = "config_sentence_transformers.json"


class _Foreign:
    """A model of sentence-transformers; `digest` names its folder's files."""

    def __init__(self, model: Any, digest: str, device: torch.device) -> None:
        self.model, self.digest, self.device = model, digest, device
        self.batcher = Batcher(BUDGETS.get(device.type, BUDGETS["cpu"]))

    def _computed(
        self,
        texts: Sequence[Any],
        encode: Callable[..., Any],
        on_progress: Callable[[int], None],
        **options: Any,
    ) -> list[Vectors]:
        """What `encode` returns for each text or pair, in order, computed in batches that fit into memory."""
        lengths = [
            min(sum(map(len, _parts(text))) // CHARACTERS_PER_TOKEN + 1, PLANNED_TOKENS) for text in texts
        ]
        out: list[Vectors] = [np.empty(0, np.float32)] * len(texts)
        done = 0

        def compute(batch: NDArray[np.int64]) -> Sequence[Vectors]:
            with autocast(self.device):
                rows: Sequence[Vectors] = encode(
                    [texts[i] for i in batch],
                    batch_size=len(batch),
                    show_progress_bar=False,
                    convert_to_numpy=True,
                    **options,
                )
            return rows

        for batch, found in self.batcher.run(lengths, compute, lambda i: repr(_parts(texts[i])[-1][:60])):
            for i, row in zip(batch, found, strict=True):
                out[i] = np.asarray(row, np.float32)
            done += len(batch)
            on_progress(done)
        return out


class ForeignEncoder(_Foreign):
    """A `SentenceTransformer`; `width` is the size of a vector."""

    def __init__(self, model: Any, digest: str, device: torch.device) -> None:
        super().__init__(model, digest, device)
        self.width = len(self._computed(["a"], model.encode_query, no_progress)[0])

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> Self:
        """The encoder of a folder; ModelRejected if its vectors are not compared by cosine."""
        kind = _settings(folder / _MODEL).get("model_type", "SentenceTransformer")
        if kind != "SentenceTransformer":
            raise ModelRejected(f"{folder} is a {kind}, expected a model with one vector a text")
        model = _loaded("SentenceTransformer", folder, device)
        normalised = type(list(model.children())[-1]).__name__ == "Normalize"
        if model.similarity_fn_name != "cosine" and not (model.similarity_fn_name == "dot" and normalised):
            raise ModelRejected(
                f"{folder} compares vectors by {model.similarity_fn_name}, expected cosine: name a model "
                "that normalises its vectors"
            )
        return cls(model, folder_digest(folder), device)

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """(n, width) float32, rows unit-norm, in the order of the texts."""
        return self._encode(texts, self.model.encode_query, no_progress)

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = no_progress
    ) -> Vectors:
        """(n, width) float32, rows unit-norm, in the order of the texts; `on_progress` gets the count."""
        return self._encode(texts, self.model.encode_document, on_progress)

    def _encode(
        self, texts: Sequence[str], encode: Callable[..., Any], on_progress: Callable[[int], None]
    ) -> Vectors:
        found = self._computed(texts, encode, on_progress)
        return _unit(np.stack(found)) if found else np.empty((0, self.width), np.float32)


class ForeignTokenEncoder(_Foreign):
    """A `MultiVectorEncoder`; `width` is the size of a vector."""

    def __init__(self, model: Any, digest: str, device: torch.device) -> None:
        super().__init__(model, digest, device)
        self.width = self._computed(["a"], model.encode_query, no_progress)[0].shape[1]

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> Self:
        """The encoder of a folder; ModelRejected for another kind of model: its layer would be random."""
        kind = _settings(folder / _MODEL).get("model_type")
        architectures = _settings(folder / CONFIG).get("architectures") or []
        if kind not in ("MultiVectorEncoder", "ColBERT") and architectures != ["HF_ColBERT"]:
            raise ModelRejected(
                f"{folder} is no late-interaction model: expected a student trained here, or a folder of "
                "sentence-transformers' MultiVectorEncoder, of PyLate, or of ColBERT's authors"
            )
        return cls(_loaded("MultiVectorEncoder", folder, device), folder_digest(folder), device)

    def encode_questions(self, texts: Sequence[str]) -> list[Vectors]:
        """For each question (m, width) float32, rows unit-norm, m at least 1."""
        return self._encode(texts, self.model.encode_query, no_progress)

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = no_progress
    ) -> tuple[Vectors, NDArray[np.int64]]:
        """The vectors (T, width) float32 of all texts, one text after another, and the count of each (n,)."""
        found = self._encode(texts, self.model.encode_document, on_progress)
        lengths = np.array([len(rows) for rows in found], np.int64)
        return np.concatenate([np.empty((0, self.width), np.float32), *found]), lengths

    def _encode(
        self, texts: Sequence[str], encode: Callable[..., Any], on_progress: Callable[[int], None]
    ) -> list[Vectors]:
        found = self._computed(texts, encode, on_progress)
        constant = np.ones((1, getattr(self, "width", 1)), np.float32)  # for a text of skipped tokens only
        return [_unit(rows if len(rows) else constant) for rows in found]


class ForeignCrossEncoder(_Foreign):
    """A `CrossEncoder`; a passage that is too long is cut at its end."""

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> Self:
        """The cross-encoder of a folder; ModelRejected for another kind of model, or several outputs."""
        kind = _settings(folder / _MODEL).get("model_type")
        architectures = _settings(folder / CONFIG).get("architectures") or [""]
        if kind != "CrossEncoder" and not str(architectures[0]).endswith("ForSequenceClassification"):
            raise ModelRejected(f"{folder} is no cross-encoder: expected a model for sequence classification")
        model = _loaded("CrossEncoder", folder, device)
        if model.num_labels != 1:
            raise ModelRejected(f"{folder} has {model.num_labels} outputs, a cross-encoder has one")
        return cls(model, folder_digest(folder), device)

    def score(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        on_progress: Callable[[int], None] = no_progress,
    ) -> list[NDArray[np.float32]]:
        """For each question a score for each of its passages, (n,) float32, higher is better.

        Scores are logits: the activation of the model keeps their order. ModelRejected if one is not finite.
        """
        pairs = [
            (question, text) for question, texts in zip(questions, passages, strict=True) for text in texts
        ]
        logits = {"activation_fn": torch.nn.Identity()}
        scores = np.array(self._computed(pairs, self.model.predict, on_progress, **logits), np.float32)
        for i in np.flatnonzero(~np.isfinite(scores)):
            raise ModelRejected(f"the cross-encoder's score of {pairs[i][1][:60]!r} is not a finite number")
        return split_scores(scores, passages)


def _loaded(factory: Factory, folder: Path, device: torch.device) -> Any:
    """The model of a folder in inference mode; ModelRejected if it cannot be loaded or is not finite.

    The transformer is loaded once before, since the library draws missing weights at random.
    """
    import sentence_transformers
    import transformers

    auto = "AutoModelForSequenceClassification" if factory == "CrossEncoder" else "AutoModel"
    for part in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        settings = _settings(part / CONFIG)
        if "model_type" in settings and not settings.get("is_encoder_decoder"):
            load_network(getattr(transformers, auto), part, may_lack=("pooler.",))
    with quietly(folder):
        model = getattr(sentence_transformers, factory)(
            str(folder),
            device=str(device),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    require_finite(model.state_dict(), folder)
    return model.eval()


def _settings(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _parts(text: str | tuple[str, str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else text


def _unit(rows: Vectors) -> Vectors:
    unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return unit
