"""A tower's transformer and tokenizer, loaded: what an encoder is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from spanwise.errors import ModelRejected

from .dpr_checkpoint import load_dpr
from .pretrained import check_vocabulary, load_encoder_trunk, load_tokenizer
from .stored_model import tuned_trunk
from .tower import Tower


@dataclass(frozen=True, slots=True)
class LoadedTower:
    """`projection` is stored with the transformer, if it is not None; `n_prompt` counts the prompt's tokens.

    The prompt's tokens are those before the text: [CLS] is one of them, [SEP] is not.
    """

    trunk: nn.Module
    tokenizer: Any
    projection: nn.Module | None
    max_length: int
    n_prompt: int


def load_tower(tower: Tower, trunk: nn.Module | None = None) -> LoadedTower:
    """The tower's parts in float32, for inference; `trunk` is not loaded again when it is given.

    ModelRejected for what is unsafe, missing or not finite, and when parts do not fit one another.
    """
    projection = None
    if trunk is None and tower.dpr:
        trunk, projection = load_dpr(tower.folder, tower.dpr)
    elif trunk is None:
        trunk = tuned_trunk(tower.delta)[0] if tower.delta else load_encoder_trunk(tower.folder)
    tokenizer = load_tokenizer(tower.folder)
    check_vocabulary(tokenizer, trunk, tower.folder)
    if tower.lowercase:
        _lowercase(tokenizer)
    limits = [limit for limit in (tower.max_length, n_positions(trunk)) if limit is not None]
    if not limits:
        raise ModelRejected(f"{tower.folder} does not say how many tokens it can see (max_seq_length)")
    n_prompt = _n_prompt(tokenizer, tower.prompt)
    if n_prompt + 2 > min(limits):
        raise ModelRejected(f"{tower.folder}: its prompt leaves no room in its {min(limits)} tokens")
    return LoadedTower(trunk, tokenizer, projection, min(limits), n_prompt)


def n_positions(trunk: nn.Module) -> int | None:
    """How many tokens the transformer has positions for; None when it has no such limit.

    RoBERTa and its kin count positions from behind the one of padding.
    """
    for name, module in trunk.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    positions: int | None = getattr(trunk.config, "max_position_embeddings", None)
    return positions


def _n_prompt(tokenizer: Any, prompt: str) -> int:
    if not prompt:
        return 0
    ids = tokenizer(prompt, verbose=False)["input_ids"]
    return len(ids) - (ids[-1] in tokenizer.all_special_ids)


def _lowercase(tokenizer: Any) -> None:
    """Let the tokenizer lower the case of texts before all else; its offsets stay those of the text given."""
    from tokenizers.normalizers import Lowercase, Normalizer, Sequence

    before: Normalizer | None = tokenizer.backend_tokenizer.normalizer
    tokenizer.backend_tokenizer.normalizer = Sequence([Lowercase(), *([before] if before else [])])


def take_whole(tokenizer: Any, prefix: str) -> None:
    """Let the tokenizer take a prefix, or its first word, as one token, if it is one of its vocabulary.

    ColBERT checkpoints put such words in front as tokens; taken as text, "[unused0]" would fall apart.
    """
    from tokenizers import AddedToken

    backend, vocabulary = tokenizer.backend_tokenizer, tokenizer.get_vocab()
    for word in (prefix, *prefix.split(None, 1)[:1]):
        if word in vocabulary:
            if backend.encode(word, add_special_tokens=False).tokens != [word]:
                backend.add_special_tokens([AddedToken(word, normalized=False, special=True)])
            return
