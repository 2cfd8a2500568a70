"""Optical character recognition by tesseract, a program of its own that the user may have installed.

It is run once for each picture of a page, without a shell, with a limit on its time. Nothing is downloaded.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from spanwise.errors import OcrNotFound

SECONDS_A_PAGE = 120
INSTALL = "install tesseract (https://tesseract-ocr.github.io/) or leave out --ocr"


def check_ocr(languages: str) -> str:
    """The path of tesseract; `OcrNotFound` when it is missing or knows not all of the languages.

    Meant to be called once, before any file is read.
    """
    program = shutil.which("tesseract")
    if program is None:
        raise OcrNotFound(f"tesseract is not on the PATH; {INSTALL}")
    listed = subprocess.run([program, "--list-langs"], capture_output=True, timeout=SECONDS_A_PAGE, text=True)
    known = set(listed.stdout.split())
    missing = [language for language in languages.split("+") if language not in known]
    if missing:
        raise OcrNotFound(f"tesseract does not know the language {', '.join(missing)}; {INSTALL}")
    return program


def recognize(pgm: bytes, languages: str) -> str:
    """The text on a greyscale picture in PGM form, lines as they stand; empty when none is found.

    One thread, so that workers do not fight over cores. Raises `OcrNotFound`, `OSError` and
    `subprocess.SubprocessError` (it failed, or took more than `SECONDS_A_PAGE`).
    """
    program = shutil.which("tesseract")
    if program is None:
        raise OcrNotFound(f"tesseract is not on the PATH; {INSTALL}")
    finished = subprocess.run(
        [program, "stdin", "stdout", "-l", languages],
        input=pgm,
        capture_output=True,
        timeout=SECONDS_A_PAGE,
        check=True,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    return finished.stdout.decode("utf-8", "replace").replace("\f", "").strip()
