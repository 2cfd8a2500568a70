"""Training lists: a question, a positive passage first, and drawn negatives.

label loss   -ln p_pos,  p_i = exp(z_i) / sum over j of exp(z_j)       z: the scores of one list
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the field's name for it)
from numpy.typing import NDArray
from torch import Tensor

from spanwise.types import RankingExample

from ...models.batching import padded

PAD_MULTIPLE = 32
_BUCKET = 64  # smaller buckets have less padding but are slower


def draw_lists(
    examples: Sequence[RankingExample], epochs: int, negatives: int, seed: int
) -> list[RankingExample]:
    """A list for each epoch and example, in order; examples without negatives are left out.

    The seed draws the positive passage and up to `negatives` negatives. ValueError if no example has
    negatives.
    """
    rng = random.Random(seed)
    lists = []
    for _ in range(epochs):
        for example in examples:
            others = range(example.n_positive, len(example.passages))
            if others:
                positive = rng.randrange(example.n_positive)
                drawn = [positive, *rng.sample(others, min(negatives, len(others)))]
                passages = tuple(example.passages[i] for i in drawn)
                scores = tuple(example.scores[i] for i in drawn if example.scores)
                lists.append(RankingExample(example.question, passages, 1, scores))
    if not lists:
        raise ValueError(f"none of the {len(examples)} lists has a negative passage. Run `train mine`")
    return lists


def length_buckets(lengths: Sequence[int]) -> list[NDArray[np.int64]]:
    """The positions of items in buckets of similar length, short ones first, to save padding.

    >>> [part.tolist() for part in length_buckets([70, 10, 100, 30])]
    [[1, 3], [0, 2]]
    """
    buckets = -(-np.asarray(lengths) // _BUCKET)
    return [np.flatnonzero(buckets == bucket) for bucket in np.unique(buckets)]


def mean_length(lengths: Sequence[int]) -> int:
    """The mean of the padded lengths, rounded up."""
    return -(-sum(padded(length, PAD_MULTIPLE) for length in lengths) // len(lengths))


def label_loss(scores: Tensor, positive: Tensor) -> Tensor:
    """The mean over questions of -ln p of the positive passage; `scores` (B, n), `positive` (B,) columns.

    If the columns are the passages of a whole batch, those of other questions are in-batch negatives.

    >>> round(float(label_loss(torch.tensor([[2., 1.], [0., 3.]]), torch.tensor([0, 1]))), 5)
    0.18092
    """
    return F.cross_entropy(scores.float(), positive)


def in_rows(scores: Sequence[Tensor]) -> Tensor:
    """(B, n) from lists of different lengths, missing scores -inf."""
    return torch.nn.utils.rnn.pad_sequence(list(scores), batch_first=True, padding_value=-torch.inf)
