"""Retrieval by late interaction: the token vectors of a question against those of the passages.

    score(q, d) = sum over the token vectors of q of  max over those of d of  their inner product

Source: Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
Interaction over BERT", SIGIR 2020, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexEmpty, ModelMismatch

from ..index import Snapshot
from .encoded import EncodedRetriever
from .protocol import TokenEncoder

NO_TOKENS = "no passage has token vectors yet: run `spanwise index FOLDER --colbert builtin`"


class ColbertRetriever(EncodedRetriever[Sequence[NDArray[np.float32]]]):
    """Ranks the passages that have token vectors by their MaxSim with the question; others are not found."""

    name = "colbert"

    @classmethod
    def build(cls, snapshot: Snapshot, encoder: TokenEncoder, exact: bool = False) -> ColbertRetriever:
        """Open the token vectors of the encoder's model: `IndexEmpty` when none are stored, `ModelMismatch`
        when only those of other models are.

        The search runs where the encoder does; on a CPU a large collection is searched approximately, unless
        `exact`.
        """
        models = snapshot.token_models()
        if not models:
            raise IndexEmpty(NO_TOKENS)
        if encoder.digest not in models:
            raise ModelMismatch(
                f"the token vectors were made by {', '.join(sorted(models))}, not by {encoder.digest}: "
                "run `spanwise index FOLDER --colbert NAME` to encode the passages with this one"
            )
        device = str(getattr(encoder, "device", "cpu"))
        return cls(snapshot.maxsim(encoder.digest, exact, device), encoder, snapshot)
