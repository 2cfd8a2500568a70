"""A late-interaction model, described: how questions and passages become a vector for each of their tokens.

Both sides go through one transformer and the same linear layers; they differ in prompts, limits, the tokens
that are skipped, and the masks that questions may be filled up with. All of it is read from a folder's files
without loading anything, so the digest of a model is known before torch is.

Source: Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
Interaction over BERT", SIGIR 2020, sections 3.1 and 3.2.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from spanwise.errors import ModelRejected

from .linear_layer import LinearLayer
from .tower import Tower


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text of fewer than `length` tokens, [CLS] and [SEP] among them, is filled up with `token`.

    Every one of these gives a vector. `attend`: whether the tokens of the text attend to them. `cut`: whether
    longer texts are cut at `length`. A `token` that is None is the one of the tokenizer, [MASK].
    """

    length: int
    attend: bool = False
    cut: bool = True
    token: str | None = None

    @classmethod
    def read(cls, config: dict[str, Any] | None, source: object) -> Expansion | None:
        """What `query_expansion` says; ModelRejected for what the library does not know either."""
        if config is None:
            return None
        known = {"strategy", "attend", "token", "length"}
        length, attend, token = config.get("length"), config.get("attend", False), config.get("token")
        if (
            not set(config) <= known
            or config.get("strategy") not in ("fixed", "min")
            or type(length) is not int
            or length < 1
            or type(attend) is not bool
            or not isinstance(token, str | None)
        ):
            raise ModelRejected(f"{source}: query_expansion is {config!r}, which is not known here")
        return cls(length, attend, config["strategy"] == "fixed", token)

    def config(self) -> dict[str, Any]:
        """What `read` reads."""
        strategy = "fixed" if self.cut else "min"
        return {"strategy": strategy, "attend": self.attend, "token": self.token, "length": self.length}


@dataclass(frozen=True, slots=True)
class TokenSide:
    """One side: `max_length` counts all tokens of a text, None for as many as the transformer sees.

    `skiplist` names tokens of the vocabulary that give no vector; [CLS] and [SEP] may be among them.
    """

    prompt: str = ""
    max_length: int | None = None
    skiplist: tuple[str, ...] = ()
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class TokenTower:
    """`network` says where the transformer is, nothing of a side; `layers` follow it, in their order.

    `markers` are prefixes that are one token if the vocabulary has them, like "[unused0] ".
    """

    network: Tower
    layers: tuple[LinearLayer, ...]
    question: TokenSide
    passage: TokenSide
    markers: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The sha256 that names what the model computes: its weights and all of its settings."""
        stated = {
            "network": self.network.digest,
            "layers": [(layer.n_out, layer.activation, layer.sha256) for layer in self.layers],
            "question": asdict(self.question),
            "passage": asdict(self.passage),
            "markers": self.markers,
        }
        return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()
