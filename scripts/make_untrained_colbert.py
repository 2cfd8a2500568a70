"""Writes the built-in late-interaction model: an untrained linear layer behind the base model.

    SPANWISE_DATA=… python scripts/make_untrained_colbert.py [FOLDER]

The layer is y = W (x - mean): the rows of W are orthonormal and drawn at random (the Q of a QR decomposition
of a normal matrix), the mean is that of the states of the tokens that give vectors, over SQuAD train.
What the token states of a language model have in common says nothing about a text, and would make all cosines
high; a random projection keeps the cosines that are left (Johnson and Lindenstrauss 1984).
"""

from __future__ import annotations

import argparse
import json
import os
import unicodedata
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from spanwise.corpora.squad import read_squad
from spanwise.models.builtin_colbert import SETTINGS, builtin_colbert_folder
from spanwise.models.linear_layer import TOKENS
from spanwise.models.locate import BASE_SHA256, find_base
from spanwise.models.skiplist import PUNCTUATION
from spanwise.models.token_encoder import TokenEncoder
from spanwise.models.token_tower import TokenSide, TokenTower
from spanwise.models.tower import Tower
from spanwise.models.vector_head import VectorHead

N_PARAGRAPHS, WIDTH, SEED = 4096, 128, 0


def main() -> None:
    """Makes the layer and writes it with its settings."""
    parser = argparse.ArgumentParser(description="Writes the built-in late-interaction model.")
    parser.add_argument("folder", nargs="?", type=Path, default=builtin_colbert_folder())
    folder: Path = parser.parse_args().folder
    data = Path(os.environ["SPANWISE_DATA"]) / "squad" / "train-v1.1.json.gz"
    skiplist = skipped_words()
    mean = mean_state(paragraphs(data), skiplist)
    rng = np.random.default_rng(SEED)
    q, r = np.linalg.qr(rng.standard_normal((len(mean), WIDTH)))
    weight = (q * np.sign(np.diag(r))).T  # (WIDTH, H); the signs make the decomposition unique
    tensors = {"linear.weight": weight, "linear.bias": -weight @ mean}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {
            name: torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
            for name, values in tensors.items()
        },
        folder / "model.safetensors",
    )
    layer = {"in_features": len(mean), "out_features": WIDTH, "bias": True}
    layer |= {"activation_function": "torch.nn.modules.linear.Identity"}
    layer |= {"module_input_name": TOKENS, "module_output_name": TOKENS}
    write(folder / "config.json", layer)
    write(folder / SETTINGS, {"base_sha256": BASE_SHA256, "max_length": None, "skiplist": skiplist})


def skipped_words() -> list[str]:
    """[CLS], [SEP], and the punctuation of the base's vocabulary, in any script."""
    words = (find_base() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    marks = [word for word in words if len(word) == 1 and unicodedata.category(word).startswith("P")]
    return ["[CLS]", "[SEP]", *PUNCTUATION, *sorted(set(marks) - set(PUNCTUATION))]


def paragraphs(data: Path) -> list[str]:
    """Paragraphs of a SQuAD file, drawn without replacement by a fixed seed."""
    found = [one.context for article in read_squad(data).articles for one in article.paragraphs]
    drawn = np.random.default_rng(SEED).permutation(len(found))[:N_PARAGRAPHS]
    return [found[i] for i in drawn]


def mean_state(texts: list[str], skiplist: list[str]) -> NDArray[np.float64]:
    """(H,): the mean of the states of all tokens that give vectors."""
    side = TokenSide(skiplist=tuple(skiplist))
    tower = TokenTower(Tower((BASE_SHA256,), find_base()), (), side, side)
    encoder = TokenEncoder.of_tower(tower)
    encoder.head = States(encoder.head.width)
    total, n_tokens = np.zeros(encoder.width), 0
    for first in range(0, len(texts), 256):
        states, _ = encoder.encode_passages(texts[first : first + 256])
        total += states.sum(axis=0, dtype=np.float64)
        n_tokens += len(states)
    mean: NDArray[np.float64] = total / n_tokens
    return mean


class States(VectorHead):
    """No layers and no normalisation: the states themselves."""

    def forward(self, pooled: torch.Tensor) -> torch.Tensor:
        """What is given."""
        return pooled


def write(path: Path, value: object) -> None:
    """The value as JSON, readable by people."""
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
