"""Predictions files: one JSON object from question id to answer text, as the SQuAD scripts read them.

The empty text says "no answer". The companion file of no-answer probabilities has the same form with
numbers. Both may be gzipped.
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

_GZIP_MAGIC = b"\x1f\x8b"


def read_predictions(path: Path, required_ids: Collection[str] = ()) -> dict[str, str]:
    """The answer text of each question id, in the order of the file.

    DataMalformed: not JSON, not an object, an id given twice, an answer that is not a string, or a required
    id that is not there.
    """
    answers = _read_object(path)
    for qid, answer in answers.items():
        if not isinstance(answer, str):
            raise DataMalformed(f"{path}: the answer to {qid!r} is {_kind(answer)}; expected a string")
    _require(path, answers, required_ids)
    return answers


def read_na_probabilities(path: Path, required_ids: Collection[str] = ()) -> dict[str, float]:
    """The no-answer probability or score of each question id, in the order of the file; all finite.

    DataMalformed: as for `read_predictions`, with a finite number in place of the string.
    """
    values = _read_object(path)
    for qid, value in values.items():
        if not isinstance(value, float) or not math.isfinite(value):
            raise DataMalformed(f"{path}: the value of {qid!r} is {_kind(value)}; expected a finite number")
    _require(path, values, required_ids)
    return values


def _read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file, gzipped or not; every number in it is a float."""
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
        value = json.loads(content, parse_int=float, object_pairs_hook=_without_duplicates)
    except OSError as error:
        raise DataMalformed(f"{path}: cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: damaged gzip file: {error}") from error
    except (ValueError, RecursionError) as error:
        raise DataMalformed(f"{path}: not a JSON object of question ids: {error}") from error
    if not isinstance(value, dict):
        raise DataMalformed(f"{path}: holds {_kind(value)}; expected an object from question id to answer")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dict; a key given twice is an error, where plain JSON would keep the last one."""
    result = dict(pairs)
    if len(result) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the id {twice!r} is given twice")
    return result


def _require(path: Path, found: Collection[str], required_ids: Collection[str]) -> None:
    """Raise DataMalformed when a required id is not among those found."""
    missing = [qid for qid in required_ids if qid not in found]
    if missing:
        count = f"{len(missing)} of {len(required_ids)} missing"
        raise DataMalformed(f"{path}: no prediction for {missing[0]!r} ({count})")


def _kind(value: object) -> str:
    """What a JSON value is, for a message."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    names = {dict: "an object", list: "an array", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
