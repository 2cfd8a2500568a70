"""A late-interaction model by name: its description and its digest, known from its files before it is loaded.

builtin                  the built-in student, over the base model
FOLDER, NAME@REVISION    a student, a MultiVectorEncoder of sentence-transformers 6, a model of PyLate, or a
                         checkpoint of ColBERT's authors, with safetensors weights
"""

from __future__ import annotations

from pathlib import Path

from spanwise.errors import ModelRejected

from .locate import BUILTIN, MODULES, builtin_colbert_folder, find_model, is_student
from .multi_vector_config import multi_vector_tower
from .stanford_colbert import is_stanford, stanford_tower
from .student_config import student_token_tower
from .token_tower import TokenTower


def absolute_token_name(name: str) -> str:
    """The name that means the same from every directory: a folder with its whole path."""
    folder = Path(name).expanduser()
    return str(folder.resolve()) if name != BUILTIN and folder.is_dir() else name


def token_tower_of(name: str) -> TokenTower:
    """The description of a model; ModelNotFound, or ModelRejected for what is unsafe or not known here."""
    if name == BUILTIN:
        return student_token_tower(builtin_colbert_folder())
    folder = find_model(name)
    if is_student(folder):
        return student_token_tower(folder)
    if (folder / MODULES).is_file():
        return multi_vector_tower(folder)
    if is_stanford(folder):
        return stanford_tower(folder)
    raise ModelRejected(
        f"{name} is no late-interaction model: known are students, folders of "
        "sentence-transformers' MultiVectorEncoder, of PyLate, and of ColBERT's authors"
    )


def token_model_digest(name: str) -> str:
    """The digest that the encoder of that name has: with which its vectors are stored. Nothing is loaded."""
    if name == BUILTIN:  # whatever is found as its base has the weights that it names
        return student_token_tower(builtin_colbert_folder(), Path()).digest
    return token_tower_of(name).digest
