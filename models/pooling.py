"""Pooling: the states of a text's tokens become one vector, as a sum with a weight for each token.

    mean                  1 / n for each of the n tokens that are pooled
    mean_sqrt_len_tokens  1 / sqrt(n) for each
    weightedmean          in proportion to the token's place in the text, counted from 1; the sum is 1
    cls                   1 for the first token
    lasttoken             1 for the last token

A prompt that is not to be pooled takes its tokens, [CLS] among them, out of the sum; places still count them.
The largest value of each number over the tokens ("max") is no such sum, and refused by name like all others.

Source: the names and their meaning are those of the sentence-transformers library's `Pooling` module.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import ModelRejected

from .model_folder import read_json

MODES = ("mean", "cls", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
_SWITCH = "pooling_mode_"  # before release 6 a configuration had a switch for each mode
_SWITCHES = {"cls_token": "cls", "mean_tokens": "mean", "weightedmean_tokens": "weightedmean"}


def token_weights(pooling: str, n_tokens: int, skip: int = 0) -> NDArray[np.float32]:
    """(n_tokens,) float32: the weight of each token of one text, none for the first `skip`.

    When nothing is left behind `skip` all weights are 0, apart from those of "cls" and "lasttoken".

    >>> token_weights("mean", 4, skip=2).tolist(), token_weights("weightedmean", 2).tolist()
    ([0.0, 0.0, 0.5, 0.5], [0.3333333432674408, 0.6666666865348816])
    """
    weights = np.zeros(n_tokens, np.float32)
    n = max(n_tokens - skip, 1)
    if pooling == "cls":
        weights[skip if skip < n_tokens else 0] = 1
    elif pooling == "lasttoken":
        weights[-1] = 1
    elif pooling == "weightedmean":
        places = np.arange(skip + 1, n_tokens + 1, dtype=np.float32)
        weights[skip:] = places / max(places.sum(), 1)
    else:
        weights[skip:] = 1 / (n if pooling == "mean" else np.sqrt(n))
    return weights


def pooling_of(folder: Path) -> str:
    """The pooling of a folder without a list of modules: what `1_Pooling` says, "mean" without one."""
    path = folder / "1_Pooling" / "config.json"
    return mode_of(read_json(path), path) if path.is_file() else "mean"


def mode_of(config: Mapping[str, Any], path: Path) -> str:
    """The one of `MODES` that a configuration names; ModelRejected for others and for several at once."""
    found = config.get("pooling_mode")
    named = [found] if isinstance(found, str) else found if isinstance(found, list) else _switched_on(config)
    if len(named) == 1 and named[0] in MODES:
        return str(named[0])
    raise ModelRejected(
        f"{path}: pooling {' and '.join(map(str, named)) or 'of no kind'}, expected one of {', '.join(MODES)}"
    )


def _switched_on(config: Mapping[str, Any]) -> list[str]:
    names = [key.removeprefix(_SWITCH) for key, on in config.items() if key.startswith(_SWITCH) and on]
    return [_SWITCHES.get(name, name) for name in names]
