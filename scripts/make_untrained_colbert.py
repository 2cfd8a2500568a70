"""Writes the built-in late-interaction model: an untrained linear layer behind the base model.

    SPANWISE_DATA=… python scripts/make_untrained_colbert.py [FOLDER]

The layer is y = W (x - mean): the rows of W are orthonormal and drawn at random (the Q of a QR decomposition
of a normal matrix), the mean is that of the states of the tokens that give vectors, over SQuAD train.
What the token states of a language model have in common says nothing about a text, and would make all cosines
high; a random projection keeps the cosines that are left (Johnson and Lindenstrauss 1984).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from spanwise.corpora.squad import read_squad
from spanwise.models.locate import BASE_SHA256, builtin_colbert_folder, find_base
from spanwise.models.skiplist import marks_of
from spanwise.models.stored_model import tuned_trunk
from spanwise.models.student_config import StudentSettings
from spanwise.models.student_folder import save_student
from spanwise.models.token_encoder import TokenEncoder
from spanwise.models.token_tower import TokenSide, TokenTower
from spanwise.models.tower import Tower
from spanwise.models.vector_head import VectorHead

N_PARAGRAPHS, WIDTH, SEED = 4096, 128, 0


def main() -> None:
    """Makes the layer and writes the student that has it."""
    parser = argparse.ArgumentParser(description="Writes the built-in late-interaction model.")
    parser.add_argument("folder", nargs="?", type=Path, default=builtin_colbert_folder())
    folder: Path = parser.parse_args().folder
    data = Path(os.environ["SPANWISE_DATA"]) / "squad" / "train-v1.1.json.gz"
    skiplist = marks_of((find_base() / "vocab.txt").read_text(encoding="utf-8").splitlines())
    mean = mean_state(paragraphs(data), skiplist)
    rng = np.random.default_rng(SEED)
    q, r = np.linalg.qr(rng.standard_normal((len(mean), WIDTH)))
    weight = (q * np.sign(np.diag(r))).T  # (WIDTH, H); the signs make the decomposition unique
    projection = torch.nn.Linear(len(mean), WIDTH)
    stored = {"weight": weight, "bias": -weight @ mean}
    projection.load_state_dict({name: torch.from_numpy(values).float() for name, values in stored.items()})
    save_student(folder, tuned_trunk()[0], projection, settings=StudentSettings(None, skiplist))


def paragraphs(data: Path) -> list[str]:
    """Paragraphs of a SQuAD file, drawn without replacement by a fixed seed."""
    found = [one.context for article in read_squad(data).articles for one in article.paragraphs]
    drawn = np.random.default_rng(SEED).permutation(len(found))[:N_PARAGRAPHS]
    return [found[i] for i in drawn]


def mean_state(texts: list[str], skiplist: tuple[str, ...]) -> NDArray[np.float64]:
    """(H,): the mean of the states of all tokens that give vectors."""
    side = TokenSide(skiplist=skiplist)
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


if __name__ == "__main__":
    main()
