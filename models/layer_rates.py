"""Layer-wise learning rates: the nearer a weight is to the input, the less it is changed.

    rate of layer l = rate * decay^(n - l)

The layers are l = 0 ... n - 1 from the input on; the head has l = n, the embeddings l = -1.

Source: Howard and Ruder, "Universal Language Model Fine-tuning for Text Classification", 2018, section 3.2
(discriminative fine-tuning); Clark et al., "ELECTRA", 2020, appendix B (0.8 to 0.9 for small models).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

LAYER_NUMBER = re.compile(r"\blayer\.(\d+)\.")
EMBEDDINGS = "embeddings."


def layer_scales(names: Iterable[str], decay: float) -> dict[str, float]:
    """What the rate of each weight is multiplied by, by the weight's name.

    >>> layer_scales(["embeddings.norm", "encoder.layer.0.w", "encoder.layer.1.w", "head.w"], 0.5)
    {'embeddings.norm': 0.125, 'encoder.layer.0.w': 0.25, 'encoder.layer.1.w': 0.5, 'head.w': 1.0}
    """
    places = {name: LAYER_NUMBER.search(name) for name in names}
    n_layers = max((int(place[1]) + 1 for place in places.values() if place), default=0)
    depths = {
        name: int(place[1]) if place else -1 if EMBEDDINGS in name else n_layers
        for name, place in places.items()
    }
    return {name: decay ** (n_layers - depth) for name, depth in depths.items()}


def parameter_groups(
    parameters: Mapping[str, nn.Parameter], weight_decay: float, layer_decay: float
) -> list[dict[str, Any]]:
    """Groups for an optimizer, each with its `scale` of the rate; vectors (biases, norms) are not decayed."""
    scales = layer_scales(parameters, layer_decay)
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in parameters.items():
        decayed = weight_decay if parameter.dim() >= 2 else 0.0
        groups.setdefault((scales[name], decayed), []).append(parameter)
    return [
        {"params": held, "scale": scale, "weight_decay": decayed}
        for (scale, decayed), held in sorted(groups.items(), key=lambda group: group[0], reverse=True)
    ]
