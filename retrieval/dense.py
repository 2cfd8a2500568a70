"""Retrieval by meaning: the vector of a question against the vectors of the passages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexEmpty, ModelMismatch

from ..index import Snapshot
from .protocol import Encoder
from .stage import Stage


def dense_retriever(snapshot: Snapshot, encoder: Encoder, exact: bool = False) -> Stage[NDArray[np.float32]]:
    """The retriever `dense`: the vectors of the encoder's model, passages by their cosine with the question.

    `IndexEmpty` when no vectors are stored, `ModelMismatch` when only those of other models are. A large
    collection is searched approximately, unless `exact`.
    """
    models = snapshot.vector_models()
    if not models:
        raise IndexEmpty("no passage has a vector yet: run `spanwise index FOLDER` to encode them")
    if encoder.digest not in models:
        raise ModelMismatch(
            f"the passages were encoded by {', '.join(sorted(models))}, not by {encoder.digest}: "
            "run `spanwise index FOLDER --model NAME` to encode them with this one"
        )
    index = snapshot.vectors(encoder.digest, exact)
    return Stage("dense", encoder.encode_questions, index, snapshot)
