"""Texts become unit vectors: a transformer, pooling, linear layers if the model has them, L2 normalisation.

What a model's folder asks for is read by `sides`. Texts are sorted by length and batched by token budget;
matrix products run in bf16 where the hardware has it, pooling and all that follows always in float32. A text
longer than the model's positions is cut there; `covered` says where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .batched_encoder import BatchedEncoder
from .loaded_tower import load_tower
from .packed_sums import sequence_sums
from .packed_tokens import PackedTokens
from .pooling import token_weights
from .precision import pick_device
from .prompted_texts import PromptedTexts
from .sides import towers_of
from .tower import Side, Tower
from .vector_head import VectorHead

Ids = list[int]


class TextEncoder(BatchedEncoder[Ids]):
    """Encodes texts with one transformer; `digest` names its exact weights and pooling, `width` its size.

    Questions and passages are encoded alike; where they are not, a `DualEncoder` has one of these for each.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        pooling: str,
        digest: str,
        batch_tokens: int | None = None,
        *,
        head: VectorHead | None = None,
        prompt: str = "",
        n_skipped: int = 0,
        max_length: int | None = None,
        tower: Tower | None = None,
    ) -> None:
        super().__init__(model, batch_tokens)
        self.tokenizer, self.pooling, self.digest, self.tower = tokenizer, pooling, digest, tower
        config: Any = model.config
        self.head = head or VectorHead(config.hidden_size)
        self.n_skipped = n_skipped  # tokens of the prompt that are not pooled
        self.width = self.head.width
        self.texts = PromptedTexts(tokenizer, prompt, max_length or config.max_position_embeddings)

    @property
    def max_length(self) -> int:
        """How many tokens of a text are seen, [CLS], [SEP] and those of a prompt among them."""
        return self.texts.max_length

    @max_length.setter
    def max_length(self, n_tokens: int) -> None:
        self.texts = replace(self.texts, max_length=n_tokens)

    @classmethod
    def load(cls, name: str = "base", device: str | None = None) -> TextEncoder:
        """The encoder of a model that encodes questions and passages alike, on the device named or the best.

        The name is one that `sides` knows; ModelRejected for a model with two different sides.
        """
        question, passage = towers_of(name)
        if question != passage or passage.inner_product:
            raise ModelRejected(f"{name} encodes questions and passages differently: use `load_encoder`")
        return cls.of_tower(passage, "passage", device)

    @classmethod
    def of_tower(
        cls, tower: Tower, side: Side, device: str | None = None, shared: BatchedEncoder[Any] | None = None
    ) -> TextEncoder:
        """The encoder of one side of a model; the transformer is that of `shared`, when it has the same."""
        network, on = load_tower(tower, shared.model if shared else None), pick_device(device)
        skipped = network.n_prompt if not tower.pools_prompt else 0
        made = cls(
            network.trunk.to(on),
            network.tokenizer,
            tower.pooling,
            tower.digest,
            head=VectorHead.of_tower(tower, side, network.trunk, network.projection).to(on),
            prompt=tower.prompt,
            n_skipped=skipped,
            max_length=network.max_length,
            tower=tower,
        )
        if shared:
            made.trunk = shared.trunk  # its weights are packed once
        return made

    def encode(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """(n, width) float32, rows unit-norm, in the order of the texts; `report` hears how many are done.

        A row does not depend on the texts beside it: cosine at least 0.9999 between any two batchings.
        """
        out, done = np.zeros((len(texts), self.width), dtype=np.float32), 0
        for first, _, batches in self._windows(texts, self._token_ids):
            for batch, vectors in batches:
                out[first + batch] = vectors
                done += len(batch)
                report(done)
        return out

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """What `encode` gives."""
        return self.encode(texts)

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """What `encode` gives."""
        return self.encode(texts, report)

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n,) int32: how many code points of each text, from its start, `encode` sees; all, if it fits.

        What follows the last token that fits is not seen, nor is white space before it counted.
        """
        return self.texts.covered(texts)

    def _token_ids(self, texts: Sequence[str]) -> list[Ids]:
        return self.texts.ids(texts)

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Ids]) -> NDArray[np.float32]:
        tokens = PackedTokens.of(rows)
        return self.of_states(self.trunk.states(tokens), tokens)

    @torch.inference_mode()
    def of_states(self, states: Tensor, tokens: PackedTokens) -> NDArray[np.float32]:
        """(B, width) from the states (T, H) of the tokens of B texts."""
        weights = [token_weights(self.pooling, int(n), self.n_skipped) for n in tokens.lengths]
        pooled = sequence_sums(states, np.concatenate(weights), tokens.lengths)
        result: NDArray[np.float32] = self.head(pooled).cpu().numpy()  # (B, width)
        return result
