"""Arguments as JSON that is the same for equal ones and different for others, whatever their types."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import PurePath
from typing import Any


def canonical(value: object) -> Any:
    """What JSON can hold, with the type's name where JSON has none; TypeError for a type not known here.

    >>> canonical({"k": (1, None), "where": frozenset({"b", "a"})})
    {'dict': [['k', {'tuple': [1, None]}], ['where', {'frozenset': ['a', 'b']}]]}
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    name = type(value).__name__
    if is_dataclass(value):
        named = [[field.name, canonical(getattr(value, field.name))] for field in fields(value)]
        return {name: named}
    if isinstance(value, Mapping):
        return {name: sorted(([key, canonical(item)] for key, item in value.items()), key=repr)}
    if isinstance(value, Set):
        return {name: sorted((canonical(item) for item in value), key=repr)}
    if isinstance(value, (tuple, list)):
        return {name: [canonical(item) for item in value]}
    if isinstance(value, (date, PurePath)):
        return {name: str(value)}
    raise TypeError(f"{value!r} is of a type that names no result: {type(value).__qualname__}")
