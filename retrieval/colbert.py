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
from .protocol import TokenEncoder
from .stage import Stage

NO_TOKENS = "no passage has token vectors yet: run `spanwise index FOLDER --colbert builtin`"


def colbert_retriever(
    snapshot: Snapshot, encoder: TokenEncoder, exact: bool = False
) -> Stage[Sequence[NDArray[np.float32]]]:
    """The retriever `colbert` over the token vectors of the encoder's model: passages by their MaxSim.

    `IndexEmpty` when none are stored, `ModelMismatch` when only those of other models are. A large
    collection is searched approximately, unless `exact`.
    """
    models = snapshot.token_models()
    if not models:
        raise IndexEmpty(NO_TOKENS)
    if encoder.digest not in models:
        raise ModelMismatch(
            f"the token vectors were made by {', '.join(sorted(models))}, not by {encoder.digest}: "
            "run `spanwise index FOLDER --colbert NAME` to encode the passages with this one"
        )
    index = snapshot.maxsim(encoder.digest, exact)
    return Stage("colbert", encoder.encode_questions, index, snapshot)
