"""A checkpoint of ColBERT as its authors' library stores it: a BERT with `linear.weight` beside its weights.

`artifact.metadata`, a JSON file, says the rest: the tokens that mark questions and passages ("[unused0]"),
how long both may be, whether punctuation is skipped in passages. Questions are always filled up with [MASK].

Source: Khattab and Zaharia 2020, section 3.2; Santhanam et al., "ColBERTv2", NAACL 2022.
"""

from __future__ import annotations

from pathlib import Path

from spanwise.errors import ModelRejected

from .linear_layer import LinearLayer
from .model_folder import CONFIG, checked_folder, read_json
from .skiplist import PUNCTUATION
from .token_limit import token_limit
from .token_tower import Expansion, TokenSide, TokenTower
from .tower import Tower, weights_of

METADATA, ARCHITECTURE = "artifact.metadata", "HF_ColBERT"
_QUESTION_LENGTH = 32  # where the metadata do not say
_KNOWN = {"similarity": ("cosine",), "interaction": ("colbert",)}


def is_stanford(folder: Path) -> bool:
    """Whether the folder is a checkpoint of that library."""
    path = folder / CONFIG
    return path.is_file() and ARCHITECTURE in (read_json(path).get("architectures") or [])


def stanford_tower(folder: Path) -> TokenTower:
    """The model of a checkpoint; ModelRejected without its metadata, and for other ways to rank."""
    checked_folder(folder)
    path = folder / METADATA
    if not path.is_file():
        raise ModelRejected(f"{folder} holds no {METADATA}, so its markers and lengths are not known")
    metadata = read_json(path)
    for name, known in _KNOWN.items():
        if metadata.get(name, known[0]) not in known:
            raise ModelRejected(f"{path}: {name} is {metadata[name]!r}, expected {known[0]}")
    layer = LinearLayer.read_inline(folder)
    if metadata.get("dim", layer.n_out) != layer.n_out:
        raise ModelRejected(f"{path}: dim is {metadata['dim']!r}, and the projection has {layer.n_out} rows")
    longest = _length(path, metadata.get("doc_maxlen")) or token_limit(folder)
    n_question = _length(path, metadata.get("query_maxlen")) or _QUESTION_LENGTH
    markers = [f"{metadata.get('query_token_id') or '[unused0]'} "]
    markers.append(f"{metadata.get('doc_token_id') or '[unused1]'} ")
    expansion = Expansion(n_question, attend=bool(metadata.get("attend_to_mask_tokens")))
    skipped = PUNCTUATION if metadata.get("mask_punctuation", True) else ()
    return TokenTower(
        Tower(weights_of(folder), folder),
        (layer,),
        TokenSide(markers[0], n_question, expansion=expansion),
        TokenSide(markers[1], longest, skipped),
        tuple(markers),
    )


def _length(path: Path, stated: object) -> int | None:
    if stated is None or (type(stated) is int and stated >= 3):
        return stated
    raise ModelRejected(f"{path}: a limit of {stated!r} tokens, expected at least 3")
