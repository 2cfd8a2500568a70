"""Results as JSON that refers to passages instead of repeating them, and back again.

A passage is stored as its id and a span by its place, so that what is packed holds no text of a document:
`unpack` is given the passages again, as the index has them, and cuts the spans out of them. Everything else
is stored field by field, floats to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from spanwise.types import Passage, Span


def passages_in(value: Any) -> Iterator[Passage]:
    """Every passage that a value holds, as often as it does."""
    if isinstance(value, Passage):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from passages_in(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from passages_in(item)


def pack(value: Any) -> Any:
    """The value as what JSON can hold.

    >>> pack((Passage(7, "a.txt", 0, 3, "one"), Span("a.txt", 0, 2, "on")))
    [7, ['a.txt', 0, 2]]
    """
    if isinstance(value, Passage):
        return value.id
    if isinstance(value, Span):
        return [value.document_id, value.start, value.end]
    if is_dataclass(value):
        return [pack(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, (tuple, list)):
        return [pack(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def unpack(kind: Any, packed: Any, passages: Mapping[int, Passage]) -> Any:
    """The value of a type that was packed; ValueError, TypeError or KeyError when it is none.

    >>> unpack(Span, ["a.txt", 0, 2], {7: Passage(7, "a.txt", 0, 3, "one")}).text
    'on'
    """
    if kind is Passage:
        return passages[packed]
    if kind is Span:
        document_id, start, end = packed
        return _span(document_id, start, end, passages.values())
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        names = [field.name for field in fields(kind)]
        values = zip(names, packed, strict=True)
        return kind(**{name: unpack(hints[name], value, passages) for name, value in values})
    arguments = get_args(kind)
    if get_origin(kind) in (tuple, list):
        return get_origin(kind)(unpack(arguments[0], item, passages) for item in packed)
    if get_origin(kind) is UnionType:  # with None, and nothing else
        return None if packed is None else unpack(arguments[0], packed, passages)
    return packed


def _span(document_id: str, start: int, end: int, passages: Iterable[Passage]) -> Span:
    for passage in passages:
        if passage.document_id == document_id and passage.start <= start <= end <= passage.end:
            return Span(document_id, start, end, passage.text[start - passage.start : end - passage.start])
    raise ValueError(f"no passage holds {start} to {end} of {document_id!r}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
