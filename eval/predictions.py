"""Predictions files: one JSON object from question id to answer text, as the SQuAD scripts read them.

The empty text says "no answer". The companion file of no-answer probabilities has the same form with
numbers. Both may be gzipped. Ids that a data set does not know are not told here: whoever has the data set
counts them.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

MAX_BYTES = 2_000_000_000  # of JSON, after unpacking
_GZIP_MAGIC = b"\x1f\x8b"


def read_predictions(path: Path, required_ids: Collection[str] = ()) -> dict[str, str]:
    """The answer text of each question id, in the order of the file.

    DataMalformed: not JSON, not an object, an id given twice, an answer that is not a string, half of a
    surrogate pair in an id or an answer (no file in UTF-8 can hold it), or a required id that is not there.
    """
    answers = _read_object(path)
    for qid, answer in answers.items():
        if not isinstance(answer, str):
            raise DataMalformed(f"{path}: the answer to {qid!r:.60} is {_kind(answer)}; expected a string")
        if _has_surrogate(answer):
            raise DataMalformed(f"{path}: half of a surrogate pair in the answer to {qid!r:.60}")
    _require(path, answers, required_ids, "prediction")
    return answers


def read_na_probabilities(path: Path, required_ids: Collection[str] = ()) -> dict[str, float]:
    """The no-answer probability or score of each question id, in the order of the file; all finite.

    DataMalformed: as for `read_predictions`, with a finite number in place of the string.
    """
    values = _read_object(path)
    for qid, value in values.items():
        if not isinstance(value, float) or not math.isfinite(value):
            raise DataMalformed(
                f"{path}: the value of {qid!r:.60} is {_kind(value)}; expected a finite number"
            )
    _require(path, values, required_ids, "no-answer probability")
    return values


def _read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file, gzipped or not; every number in it is a float."""
    try:
        value = json.loads(_unpacked(path), parse_int=float, object_pairs_hook=_checked)
    except (OSError, EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataMalformed(f"{path}: not a JSON object of question ids: {error}") from error
    if not isinstance(value, dict):
        raise DataMalformed(f"{path}: holds {_kind(value)}; expected an object from question id to answer")
    return value


def _unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP_MAGIC
    with gzip.open(path) if packed else path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise DataMalformed(f"{path}: more than {MAX_BYTES:,} bytes of JSON, the limit")
    return data


def _checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dict; a key given twice is an error, where plain JSON would keep the last one."""
    result = dict(pairs)
    if len(result) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the id {twice!r:.60} is given twice")
    for qid in result:
        if _has_surrogate(qid):
            raise ValueError(f"half of a surrogate pair in the id {qid!r:.60}")
    return result


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _require(path: Path, found: Collection[str], required_ids: Collection[str], what: str) -> None:
    """Raise DataMalformed when a required id is not among those found."""
    missing = [qid for qid in required_ids if qid not in found]
    if missing:
        count = f"{len(missing)} of {len(required_ids)} missing"
        raise DataMalformed(f"{path}: no {what} for {missing[0]!r:.60} ({count})")


def _kind(value: object) -> str:
    """What a JSON value is, for a message."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    names = {dict: "an object", list: "an array", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
