"""The texts of one side of a late-interaction model as rows of tokens, each knowing which give a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spanwise.errors import ModelRejected

from .loaded_tower import LoadedTower
from .prompted_texts import PromptedTexts, Span
from .skiplist import kept_places, skipped_ids
from .token_tower import Expansion, TokenSide


@dataclass(frozen=True, slots=True)
class TokenRow:
    """Token ids, of which the first `n_seen` are attended to and those at `kept` give a vector."""

    ids: list[int]
    n_seen: int
    kept: list[int]

    def __len__(self) -> int:
        """How many tokens go through the transformer."""
        return len(self.ids)


class TokenRows:
    """Makes the rows of one side."""

    def __init__(self, side: TokenSide, network: LoadedTower, source: object) -> None:
        tokenizer, limit = network.tokenizer, network.max_length
        self.expansion = side.expansion
        longest = [n for n in (side.max_length, limit) if n is not None]
        if self.expansion:
            longest += [self.expansion.length] * self.expansion.cut
            if self.expansion.length > limit:
                raise ModelRejected(
                    f"{source}: questions of {self.expansion.length} tokens, and the model sees {limit}"
                )
        self.texts = PromptedTexts(tokenizer, side.prompt, min(longest))
        if len(self.texts.ids([""])[0]) >= self.texts.max_length:
            raise ModelRejected(f"{source}: there is no room for a text in {self.texts.max_length} tokens")
        vocabulary = tokenizer.get_vocab()
        self._skipped = skipped_ids(side.skiplist, vocabulary)
        self._special = frozenset(tokenizer.all_special_ids)
        self._filler = _filler(self.expansion, tokenizer, source) if self.expansion else 0

    def of(self, texts: Sequence[str]) -> list[TokenRow]:
        """The row of each text."""
        return [self._row(ids) for ids in self.texts.ids(texts)]

    def offsets(self, text: str) -> list[Span | None]:
        """For each vector of the text the code points it stands for; None for [CLS], a marker, a mask."""
        found = self.texts.offsets(text)
        row = self.of([text])[0]
        found += [None] * (len(row) - len(found))
        return [found[place] for place in row.kept]

    def _row(self, ids: list[int]) -> TokenRow:
        n_text, kept = len(ids), kept_places(ids, self._skipped, self._special)
        if self.expansion and n_text < self.expansion.length:
            ids = ids + [self._filler] * (self.expansion.length - n_text)
            if self._filler not in self._skipped:
                kept += range(n_text, len(ids))
        return TokenRow(ids, len(ids) if self.expansion and self.expansion.attend else n_text, kept)


def _filler(expansion: Expansion, tokenizer: Any, source: object) -> int:
    """The id of the token that questions are filled up with; ModelRejected when there is none."""
    found = tokenizer.mask_token_id
    if expansion.token is not None:
        found = tokenizer.get_vocab().get(expansion.token)
    if found is None:
        raise ModelRejected(
            f"{source}: its tokenizer has no {expansion.token or 'mask'} to fill up questions"
        )
    return int(found)
