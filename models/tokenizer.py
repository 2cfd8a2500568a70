"""Tokenizers of model folders, the special tokens of a text or a pair, and the tokens that give a vector.

`FastTokenizer` is called like the fast tokenizers of transformers and gives the same ids and offsets, but
loads sooner. It takes only the arguments that this project uses.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from tokenizers import Encoding, Tokenizer

from spanwise.errors import ModelRejected

from .batching import Ids, PackedTokens
from .model_files import read_json

LOCAL = {"local_files_only": True, "trust_remote_code": False}
VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "sentencepiece.bpe.model",
    "spiece.model",
    "spm.model",
)
_CLASSES = ("BertTokenizer", "BertTokenizerFast", "MPNetTokenizer")
_NORMALIZER_SETTINGS = {  # in tokenizer_config.json and in tokenizer.json
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}


class Encodings(dict[str, Any]):
    """`input_ids`, `attention_mask`, `token_type_ids`, `offset_mapping`: a list, or a list of lists."""

    def __init__(self, encodings: Sequence[Encoding], is_single: bool, offsets: bool) -> None:
        self._encodings = encodings
        columns: dict[str, list[Any]] = {
            "input_ids": [e.ids for e in encodings],
            "token_type_ids": [e.type_ids for e in encodings],
            "attention_mask": [e.attention_mask for e in encodings],
        }
        if offsets:
            columns["offset_mapping"] = [e.offsets for e in encodings]
        super().__init__({name: rows[0] if is_single else rows for name, rows in columns.items()})

    def sequence_ids(self, index: int) -> list[int | None]:
        """The segment of each token of a text: 0, 1 for the second of a pair, None for a special token."""
        ids: list[int | None] = self._encodings[index].sequence_ids
        return ids


class FastTokenizer:
    """Tokenizes without truncation and without padding."""

    is_fast = True  # as in transformers: it reports the offsets of tokens

    def __init__(self, tokenizer: Tokenizer, cls_token_id: int, pad_token_id: int) -> None:
        self.cls_token_id = cls_token_id
        self.pad_token_id = pad_token_id
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, folder: Path) -> Self | None:
        """The tokenizer of the folder, or None if AutoTokenizer might read its files differently."""
        rules = folder / "tokenizer.json"
        settings = folder / "tokenizer_config.json"
        if not (rules.is_file() and settings.is_file()):
            return None
        try:
            config = read_json(settings)
            normalizer = read_json(rules).get("normalizer") or {}
        except ModelRejected:
            return None
        if config.get("tokenizer_class") not in _CLASSES or not _agree(config, normalizer):
            return None
        tokenizer = Tokenizer.from_file(str(rules))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        start = tokenizer.token_to_id(config["cls_token"])
        padding = tokenizer.token_to_id(config["pad_token"])
        return None if start is None or padding is None else cls(tokenizer, start, padding)

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
        """The tokens of a text, of a text with its pair, or of each text in a list."""
        is_single = isinstance(texts, str)
        batch = [(texts, pair) if pair is not None else texts] if is_single else list(texts)
        encodings = self._tokenizer.encode_batch(batch, add_special_tokens=add_special_tokens)
        return Encodings(encodings, is_single, return_offsets_mapping)

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of [CLS], [SEP] and the other tokens that no text has."""
        added = self._tokenizer.get_added_tokens_decoder()
        return [number for number, token in added.items() if token.special]

    def get_vocab(self) -> dict[str, int]:
        """The id of each word piece."""
        return self._tokenizer.get_vocab()


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The special tokens of a pair of segments, as the tokenizer places them.

    before: ids in front of the first segment.
    between: ids between the segments.
    after: ids behind the second segment.
    pad: the id of padding.
    null: the position whose logits are the null score; that of [CLS].
    segment: the type id of the second segment.
    """

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    pad: int
    null: int
    segment: int

    @property
    def count(self) -> int:
        """The number of special tokens in an input."""
        return len(self.before) + len(self.between) + len(self.after)


def special_tokens(tokenizer: Any) -> SpecialTokens:
    """The special tokens of a tokenizer, read from its encoding of a pair of two plain words."""
    encoding = tokenizer("a", "b", return_token_type_ids=True)
    ids = encoding["input_ids"]
    segments = encoding.sequence_ids(0)
    first, first_end = _range(segments, 0)
    second, second_end = _range(segments, 1)
    return SpecialTokens(
        before=tuple(ids[:first]),
        between=tuple(ids[first_end:second]),
        after=tuple(ids[second_end:]),
        pad=tokenizer.pad_token_id or 0,
        null=ids.index(tokenizer.cls_token_id) if tokenizer.cls_token_id in ids else 0,
        segment=encoding["token_type_ids"][second],
    )


def text_ids(tokenizer: Any, texts: Sequence[str], max_length: int) -> list[list[int]]:
    """The token ids of each text with [CLS] and [SEP]; a long text is cut in front of [SEP]."""
    if not texts:
        return []
    rows = tokenizer(texts, truncation=False, verbose=False, return_attention_mask=False)["input_ids"]
    return [row if len(row) <= max_length else [*row[: max_length - 1], row[-1]] for row in rows]


@dataclass(frozen=True, slots=True)
class TokenRow:
    """The tokens of a text.

    ids: token ids.
    places: positions in `ids` of the tokens that give a vector.
    """

    ids: list[int]
    places: list[int]

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.ids)


class TokenRows:
    """Makes rows of at most `max_length` tokens; the tokens of `skiplist` give no vector."""

    def __init__(self, tokenizer: Any, max_length: int, skiplist: Iterable[str] = ()) -> None:
        self.tokenizer = tokenizer
        self.max_length = max_length
        vocabulary = tokenizer.get_vocab()
        self._skipped = frozenset(vocabulary[word] for word in skiplist if word in vocabulary)
        self._special = frozenset(tokenizer.all_special_ids)

    def of(self, texts: Sequence[str]) -> list[TokenRow]:
        """The row of each text."""
        rows = text_ids(self.tokenizer, texts, self.max_length)
        return [TokenRow(ids, vector_places(ids, self._skipped, self._special)) for ids in rows]


def packed_rows(rows: Sequence[TokenRow]) -> tuple[PackedTokens, Ids]:
    """The tokens of all rows, and the positions among them of those that give a vector."""
    tokens = PackedTokens.of([row.ids for row in rows])
    places = [start + np.array(row.places) for start, row in zip(tokens.starts(), rows, strict=True)]
    return tokens, np.concatenate(places)


def vector_places(ids: Sequence[int], skipped: Collection[int], special: Collection[int]) -> list[int]:
    """The positions in `ids` of the tokens that give a vector: those that are not skipped, but at least one.

    If all tokens are skipped, as in a passage of dashes, those that are not `special` give one. If there are
    none of these, [CLS] and [SEP] represent the empty text.

    >>> skipped = {101, 102}
    >>> vector_places([101, 7, 102], skipped, skipped), vector_places([101, 102], skipped, skipped)
    ([1], [0, 1])
    """
    for left_out in (skipped, special, ()):
        places = [place for place, token in enumerate(ids) if token not in left_out]
        if places:
            return places
    raise ValueError("no tokens, expected at least one")


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a model folder; ModelRejected if the folder has none that can be read."""
    fast = FastTokenizer.open(folder)
    if fast is not None:
        return fast
    from transformers import AutoTokenizer

    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise ModelRejected(f"{folder} holds no tokenizer: none of {', '.join(VOCABULARIES)}")
    with quietly(folder):
        tokenizer = AutoTokenizer.from_pretrained(str(folder), use_fast=True, **LOCAL)
    if not tokenizer.is_fast:
        raise ModelRejected(f"{folder}: its tokenizer does not report the offsets of tokens")
    return tokenizer


@contextmanager
def quietly(folder: Path) -> Iterator[None]:
    """Loads without progress bars and warnings; an error becomes a ModelRejected that names the folder."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # a new head is expected here
    logging.disable_progress_bar()
    try:
        yield
    except (MemoryError, ModelRejected):
        raise
    except Exception as error:  # the library has no common base class for what a folder can do to it
        raise ModelRejected(f"the model in {folder} cannot be loaded: {error}") from error
    finally:
        logging.set_verbosity(verbosity)


def _range(segments: Sequence[int | None], segment: int) -> tuple[int, int]:
    """The first position of a segment, and the position behind its last one."""
    places = [place for place, value in enumerate(segments) if value == segment]
    return places[0], places[-1] + 1


def _agree(config: dict[str, Any], normalizer: dict[str, Any]) -> bool:
    """True if both files agree on case, accents and special tokens; transformers follows the first."""
    return (
        normalizer.get("type") == "BertNormalizer"
        and all(
            name not in config or config[name] == normalizer.get(other)
            for name, other in _NORMALIZER_SETTINGS.items()
        )
        and all(isinstance(config.get(name), str) for name in ("cls_token", "pad_token"))
    )
