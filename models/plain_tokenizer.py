"""The tokenizer of a BERT folder, straight from its tokenizer.json: what AutoTokenizer makes of it, sooner.

It is called as transformers' fast tokenizers are and gives the same ids and offsets; of their arguments it
knows those that this project uses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from tokenizers import Encoding, Tokenizer

_CLASSES = ("BertTokenizer", "BertTokenizerFast")


class Encodings(dict[str, Any]):
    """`input_ids`, `attention_mask`, `token_type_ids`, `offset_mapping`: a list, or a list of lists."""

    def __init__(self, encodings: Sequence[Encoding], one: bool, offsets: bool) -> None:
        self._encodings = encodings
        columns: dict[str, list[Any]] = {
            "input_ids": [e.ids for e in encodings],
            "token_type_ids": [e.type_ids for e in encodings],
            "attention_mask": [e.attention_mask for e in encodings],
        }
        if offsets:
            columns["offset_mapping"] = [e.offsets for e in encodings]
        super().__init__({name: rows[0] if one else rows for name, rows in columns.items()})

    def sequence_ids(self, index: int) -> list[int | None]:
        """For each token of a text: 0, 1 for that of the pair, None for a special token."""
        ids: list[int | None] = self._encodings[index].sequence_ids
        return ids


class PlainTokenizer:
    """Tokenizes without truncation and without padding."""

    is_fast = True  # it knows where in a text its tokens are

    def __init__(
        self, tokenizer: Tokenizer, cls_token_id: int, pad_token_id: int, mask_token_id: int | None = None
    ) -> None:
        self.cls_token_id, self.pad_token_id = cls_token_id, pad_token_id
        self.mask_token_id = mask_token_id
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, folder: Path) -> Self | None:
        """The tokenizer of the folder, or None when AutoTokenizer might make another one of it."""
        rules, settings = folder / "tokenizer.json", folder / "tokenizer_config.json"
        if not (rules.is_file() and settings.is_file()):
            return None
        try:
            config, normalizer = _read(settings), _read(rules).get("normalizer") or {}
        except (ValueError, RecursionError):
            return None
        if config.get("tokenizer_class") not in _CLASSES or not _agree(config, normalizer):
            return None
        tokenizer = Tokenizer.from_file(str(rules))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        start, padding = (tokenizer.token_to_id(config[name]) for name in ("cls_token", "pad_token"))
        if start is None or padding is None:
            return None
        return cls(tokenizer, start, padding, tokenizer.token_to_id(_mask(config)))

    def __call__(
        self,
        texts: str | Sequence[str],
        pair: str | None = None,
        *,
        add_special_tokens: bool = True,
        return_offsets_mapping: bool = False,
        return_attention_mask: bool = True,
        return_token_type_ids: bool = True,
        truncation: Literal[False] = False,
        verbose: bool = False,
    ) -> Encodings:
        """The tokens of a text, of a text with its pair, or of each text of a list."""
        one = isinstance(texts, str)
        batch = [(texts, pair) if pair is not None else texts] if one else list(texts)
        encodings = self._tokenizer.encode_batch(batch, add_special_tokens=add_special_tokens)
        return Encodings(encodings, one, return_offsets_mapping)

    @property
    def backend_tokenizer(self) -> Tokenizer:
        """What does the work."""
        return self._tokenizer

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of [CLS], [SEP] and the other tokens that no text has."""
        added = self._tokenizer.get_added_tokens_decoder()
        return [number for number, token in added.items() if token.special]

    def get_vocab(self) -> dict[str, int]:
        """The id of each piece."""
        return self._tokenizer.get_vocab()

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str | None]:
        """The pieces with these ids, as the vocabulary spells them."""
        return [self._tokenizer.id_to_token(number) for number in ids]


def _mask(config: dict[str, Any]) -> str:
    """The token that stands for a hidden one: given as it is, or as an object that describes it."""
    named = config.get("mask_token")
    content = named.get("content") if isinstance(named, dict) else named
    return content if isinstance(content, str) else "[MASK]"


def _read(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds no object")
    return found


def _agree(config: dict[str, Any], normalizer: dict[str, Any]) -> bool:
    """Whether both files say the same of case, accents and special tokens; transformers heeds the first."""
    same = {"do_lower_case": "lowercase", "strip_accents": "strip_accents"}
    same["tokenize_chinese_chars"] = "handle_chinese_chars"
    return (
        normalizer.get("type") == "BertNormalizer"
        and all(name not in config or config[name] == normalizer.get(other) for name, other in same.items())
        and all(isinstance(config.get(name), str) for name in ("cls_token", "pad_token"))
    )
