"""What the user may choose about reading, beside the files themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read; the same options and bytes give the same document.

    `ocr` has pages without text read by tesseract, in `ocr_languages` ("eng", or several: "eng+deu").
    """

    ocr: bool = False
    ocr_languages: str = "eng"


AS_GIVEN = ReadOptions()
