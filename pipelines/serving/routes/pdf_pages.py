"""Pages of indexed PDFs: size and boxes of a span, and the picture."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response

from ....corpora.readers.pdf_image import MAX_WIDTH
from ..requests import MOST_CHARACTERS
from ..responses import Record
from ..service import Service, service_of
from .documents import MOST_ID

router = APIRouter(prefix="/api/document")
Served = Annotated[Service, Depends(service_of)]
Id = Annotated[str, Query(min_length=1, max_length=MOST_CHARACTERS)]
MOST_PAGES = 1_000_000


@router.get("/page")
async def page(
    service: Served,
    id: Id,
    page: Annotated[int | None, Query(ge=1, le=MOST_PAGES)] = None,
    start: Annotated[int, Query(ge=0, le=MOST_ID)] = 0,
    end: Annotated[int | None, Query(ge=0, le=MOST_ID)] = None,
) -> Record:
    """The size of a page of a PDF in points and a box for each line of a span, from the top left corner.

    Without a page it is that on which the span starts.
    """
    span = (start, start if end is None else end)
    return Record(await asyncio.to_thread(service.pdf_pages.places, id, page, *span))


@router.get("/page.png")
async def picture(
    service: Served,
    id: Id,
    page: Annotated[int, Query(ge=1, le=MOST_PAGES)],
    width: Annotated[int, Query(ge=1, le=MAX_WIDTH)] = 1000,
) -> Response:
    """The picture of a page, `width` pixels wide; a page that is very long is drawn smaller."""
    png = await asyncio.to_thread(service.pdf_pages.picture, id, page, width)
    return Response(png, media_type="image/png")
