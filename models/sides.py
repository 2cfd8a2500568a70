"""A model by name: its two towers and its digest, known from its files before anything is loaded.

base                     the built-in model: questions and passages are encoded alike
dpr                      the dense heads of the built-in student, one for each side
FOLDER, NAME@REVISION    a transformer, a student, a sentence-transformers model, or a folder with the two
                         folders `question` and `passage`
QUESTION::PASSAGE        two of these: of the first the side of questions, of the second that of passages
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from spanwise.errors import ModelRejected

from .dpr_checkpoint import dpr_tower, is_dpr
from .locate import (
    BASE_NAMES,
    BASE_SHA256,
    DPR,
    builtin_colbert_folder,
    find_base,
    find_model,
    is_pair,
    is_student,
)
from .sentence_config import sentence_tower
from .student_config import student_towers
from .tower import Digests, Side, Tower, weights_of

BETWEEN = "::"


def parts_of(name: str) -> list[str]:
    """The names of the models that a name is made of: one, or two; ModelRejected for more or empty ones.

    >>> parts_of("base"), parts_of("./questions::./passages")
    (['base'], ['./questions', './passages'])
    """
    parts = name.split(BETWEEN)
    if len(parts) > 2 or not all(parts):
        raise ModelRejected(f"{name!r} names {len(parts)} encoders, expected one model or QUESTION::PASSAGE")
    return parts


def absolute_name(name: str) -> str:
    """The name that means the same from every directory: folders with their whole path."""
    return BETWEEN.join(_absolute(part) for part in parts_of(name))


def towers_of(name: str) -> tuple[Tower, Tower]:
    """The tower of questions and that of passages; equal ones encode both alike.

    ModelNotFound, or ModelRejected for what is unsafe, unknown, or does not belong together.
    """
    if name in BASE_NAMES:
        tower = Tower((BASE_SHA256,), find_base())
        return tower, tower
    folders = folders_of(name)
    digests = cache(weights_of)  # for this call: a folder that serves both sides is read once
    question, passage = _tower(folders[0], "question", digests), _tower(folders[-1], "passage", digests)
    if question.inner_product != passage.inner_product:
        raise ModelRejected(f"{name}: one side is compared by cosines and the other by inner products")
    return question, passage


def folders_of(name: str) -> list[Path]:
    """The folders of the one or two models that a name is made of; errors as those of `find_model`."""
    return [builtin_colbert_folder() if part == DPR else find_model(part) for part in parts_of(name)]


def digest_of(question: Tower, passage: Tower) -> str:
    """The sha256 that names a model: that of its tower, or of the digests of its two different ones."""
    if question == passage:
        return passage.digest
    return hashlib.sha256(f"{question.digest} {passage.digest}".encode()).hexdigest()


def model_digest(name: str) -> str:
    """The digest that an encoder of that name has: with which its vectors are stored. Nothing is loaded."""
    if name in BASE_NAMES:  # whatever is found under this name has these weights
        name_only = Tower((BASE_SHA256,), Path())
        return digest_of(name_only, name_only)
    if name == DPR:
        return digest_of(*student_towers(builtin_colbert_folder(), Path()))
    return digest_of(*towers_of(name))


def _tower(folder: Path, side: Side, digests: Digests) -> Tower:
    if is_student(folder):
        question, passage = student_towers(folder)
        return question if side == "question" else passage
    if is_pair(folder):
        folder = folder / side
    read = dpr_tower if is_dpr(folder) else sentence_tower
    return read(folder, side, digests)


def _absolute(name: str) -> str:
    folder = Path(name).expanduser()
    return str(folder.resolve()) if name not in (*BASE_NAMES, DPR) and folder.is_dir() else name
