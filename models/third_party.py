"""Models of other projects, loaded by sentence-transformers behind the interfaces of our own.

    ThirdPartyEncoder         SentenceTransformer: one vector per text, compared by cosine
    ThirdPartyTokenEncoder    MultiVectorEncoder: one vector per token (ColBERT, PyLate and their relatives)
    ThirdPartyCrossEncoder    CrossEncoder with one score per pair

Prompts, limits, pooling and layers are those of the model's folder. `model_files.checked_folder` has refused
pickles and code before. Matrix products run in bf16 where the hardware has it. Importing
sentence-transformers takes seconds, so only these models import it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch

from spanwise.errors import ModelRejected

from .batching import Batcher, Ids, OnProgress, Vectors, joined, no_progress, parts
from .load import load_network
from .model_files import CONFIG, folder_digest, read_json
from .precision import autocast
from .tokenizer import quietly
from .weights import require_finite

Factory = Literal["SentenceTransformer", "MultiVectorEncoder", "CrossEncoder"]
CHARACTERS_PER_TOKEN = 4  # to plan batches; `Batcher` handles texts with more tokens than planned
PLANNED_TOKENS = 512
_MODEL = "config_sentence_transformers.json"


class _ThirdPartyModel:
    """A model of sentence-transformers; `digest` names the files of its folder."""

    def __init__(self, model: Any, digest: str, device: torch.device) -> None:
        self.model = model
        self.digest = digest
        self.device = device
        self.batcher = Batcher.on(device.type)

    def _computed(
        self,
        texts: Sequence[Any],
        encode: Callable[..., Any],
        on_progress: OnProgress,
        **options: Any,
    ) -> list[Vectors]:
        """The result of `encode` for each text or pair, in order; batches are small enough for the memory."""
        characters = [len(text) if isinstance(text, str) else sum(map(len, text)) for text in texts]
        lengths = [min(n // CHARACTERS_PER_TOKEN + 1, PLANNED_TOKENS) for n in characters]
        out: list[Vectors] = [np.empty(0, np.float32)] * len(texts)
        done = 0

        def compute(batch: Ids) -> Sequence[Vectors]:
            with autocast(self.device):
                rows: Sequence[Vectors] = encode(
                    [texts[i] for i in batch],
                    batch_size=len(batch),
                    show_progress_bar=False,
                    convert_to_numpy=True,
                    **options,
                )
            return rows

        def excerpt(i: int) -> str:
            text = texts[i] if isinstance(texts[i], str) else texts[i][-1]
            return repr(text[:60])

        for batch, rows in self.batcher.run(lengths, compute, excerpt):
            for i, row in zip(batch, rows, strict=True):
                out[i] = np.asarray(row, np.float32)
            done += len(batch)
            on_progress(done)
        return out


class _VectorModel(_ThirdPartyModel):
    """A model that gives vectors; `width` is the size of a vector."""

    def __init__(self, model: Any, digest: str, device: torch.device) -> None:
        super().__init__(model, digest, device)
        self.width = self._computed(["a"], model.encode_query, no_progress)[0].shape[-1]


class ThirdPartyEncoder(_VectorModel):
    """A `SentenceTransformer`."""

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> Self:
        """The encoder of a folder; ModelRejected if its vectors are not compared by cosine."""
        kind = _settings(folder / _MODEL).get("model_type", "SentenceTransformer")
        if kind != "SentenceTransformer":
            raise ModelRejected(f"{folder} is a {kind}, expected a model with one vector per text")
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

    def encode_passages(self, texts: Sequence[str], on_progress: OnProgress = no_progress) -> Vectors:
        """(n, width) float32, rows unit-norm, in the order of the texts; `on_progress` gets the count."""
        return self._encode(texts, self.model.encode_document, on_progress)

    def _encode(self, texts: Sequence[str], encode: Callable[..., Any], on_progress: OnProgress) -> Vectors:
        vectors = self._computed(texts, encode, on_progress)
        return _unit(np.stack(vectors)) if vectors else np.empty((0, self.width), np.float32)


class ThirdPartyTokenEncoder(_VectorModel):
    """A `MultiVectorEncoder`."""

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> Self:
        """The encoder of a folder; ModelRejected for another kind of model, whose layer would be random."""
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
        self, texts: Sequence[str], on_progress: OnProgress = no_progress
    ) -> tuple[Vectors, Ids]:
        """The vectors (T, width) float32 of all texts in order, and the number of vectors per text (n,)."""
        return joined(self._encode(texts, self.model.encode_document, on_progress), self.width)

    def _encode(
        self, texts: Sequence[str], encode: Callable[..., Any], on_progress: OnProgress
    ) -> list[Vectors]:
        vectors = self._computed(texts, encode, on_progress)
        constant = np.ones((1, self.width), np.float32)  # for a text of skipped tokens only
        return [_unit(rows if len(rows) else constant) for rows in vectors]


class ThirdPartyCrossEncoder(_ThirdPartyModel):
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
        on_progress: OnProgress = no_progress,
    ) -> list[Vectors]:
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
        return parts(scores, [len(texts) for texts in passages])


def _loaded(factory: Factory, folder: Path, device: torch.device) -> Any:
    """The model of a folder in inference mode; ModelRejected if it cannot be loaded or is not finite.

    `load_network` checks the transformer first, because the library draws missing weights at random.
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


def _unit(rows: Vectors) -> Vectors:
    unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return unit
