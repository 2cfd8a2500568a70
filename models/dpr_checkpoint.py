"""The two encoders of Dense Passage Retrieval, as the transformers library stores them.

The vector of a question or of a passage is the [CLS] state of a BERT, projected where the configuration has a
`projection_dim`. Each side is a folder of its own, and vectors are compared by their inner product, as they
are. The checkpoints that the paper's authors published are pickles (`.cp`), which are not read.

Source: Karpukhin et al., "Dense Passage Retrieval for Open-Domain Question Answering", EMNLP 2020, section 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spanwise.errors import ModelRejected

from .model_folder import CONFIG, checked_folder, read_json
from .token_limit import token_limit
from .tower import Digests, Side, Tower, weights_of

if TYPE_CHECKING:
    from torch import nn

ARCHITECTURES: dict[Side, str] = {"question": "DPRQuestionEncoder", "passage": "DPRContextEncoder"}


def is_dpr(folder: Path) -> bool:
    """Whether this is the folder of a DPR network."""
    return (folder / CONFIG).is_file() and read_json(folder / CONFIG).get("model_type") == "dpr"


def dpr_tower(folder: Path, side: Side, digests: Digests = weights_of) -> Tower:
    """The tower of that side; ModelRejected when the folder holds the other side, or DPR's reader."""
    checked_folder(folder)
    found = read_json(folder / CONFIG).get("architectures")
    if found != [ARCHITECTURES[side]]:
        raise ModelRejected(
            f"{folder} holds {found}, and the {side} encoder must be {ARCHITECTURES[side]}: "
            "name both sides, as in --model QUESTION_FOLDER::PASSAGE_FOLDER"
        )
    return Tower(
        digests(folder),
        folder,
        pooling="cls",
        inner_product=True,
        max_length=token_limit(folder),
        dpr=side,
    )


def load_dpr(folder: Path, side: Side) -> tuple[nn.Module, nn.Module | None]:
    """The BERT of that side, and its projection if it has one; both in float32, for inference."""
    import transformers

    from .pretrained import load_network

    model = load_network(getattr(transformers, ARCHITECTURES[side]), folder)
    encoder = model.get_submodule("question_encoder" if side == "question" else "ctx_encoder")
    projection = encoder.get_submodule("encode_proj") if encoder.projection_dim else None
    return encoder.get_submodule("bert_model"), projection
