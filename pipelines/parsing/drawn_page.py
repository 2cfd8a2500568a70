"""A page of a PDF: what is asked of a child about it, and what the child answers.

The picture is for a screen; size and boxes are checked to be numbers of a page before anyone uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from ...corpora.readers.pdf_image import PagePlaces, page_places, page_png
from ...corpora.readers.pdf_words import MAX_BOXES, Box
from .wire import WrongAnswer

PNG = b"\x89PNG\r\n\x1a\n"  # what every such file begins with
MAX_POINTS = 1e6  # of a side; PDF allows 14,400 units, each up to 75,000 points in theory


def page_answer(header: Mapping[str, Any], data: bytes) -> tuple[dict[str, object], bytes, bytes, bytes]:
    """The child's answer: a picture where `width` is asked for, else sizes and boxes."""
    if "width" in header:
        return {"drawn": True}, page_png(data, header["page"], header["width"]), b"", b""
    found = page_places(data, header["page"], header["words"], header["before"], header["after"])
    return {"places": asdict(found)}, b"", b"", b""


def checked_places(answer: Mapping[str, Any]) -> PagePlaces:
    """The size and the boxes in an answer; `WrongAnswer` for what no page has."""
    try:
        given = answer["places"]
        boxes = tuple(Box(*(_number(box[side]) for side in Box.__slots__)) for box in given["boxes"])
        found = PagePlaces(_number(given["width"]), _number(given["height"]), int(given["n_pages"]), boxes)
    except (KeyError, TypeError, ValueError) as error:
        raise WrongAnswer(f"no size of a page: {error}") from error
    if found.width <= 0 or found.height <= 0 or len(boxes) > MAX_BOXES:
        raise WrongAnswer("no size of a page")
    return found


def checked_picture(picture: bytes) -> bytes:
    """The picture; `WrongAnswer` for what is no PNG."""
    if not picture.startswith(PNG):
        raise WrongAnswer("no picture")
    return picture


def _number(value: object) -> float:
    if not isinstance(value, int | float) or not isfinite(value) or abs(value) > MAX_POINTS:
        raise WrongAnswer(f"{value!r:.40} where a length belongs")
    return float(value)
