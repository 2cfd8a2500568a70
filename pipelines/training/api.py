"""What `spanwise train` and `calibrate` do, as functions: `spanwise.training`.

train reader          read_squad and train_reader with a ReaderRecipe
train negatives       mine_squad or mine_examples with Mining; Leaks keeps evaluation texts out
train cross-encoder   open_examples and train_cross_encoder with a CrossEncoderRecipe
train scores          score_lists
train colbert         train_student with a StudentRecipe
calibrate             read_squad, calibrate and keep_calibration
"""

from __future__ import annotations

from ...corpora.squad import read_squad
from ...models.training import Recipe
from ...reader.training import ReaderRecipe
from ...retrieval.training.cross_encoder import CrossEncoderRecipe
from ...retrieval.training.mining import Mining
from ...retrieval.training.student import StudentRecipe
from ..calibration import Calibrated, calibrate, keep_calibration
from .examples import open_examples
from .leaks import Leaks
from .mine import mine_examples, mine_squad
from .score import Scored, score_lists
from .train_cross_encoder import train_cross_encoder
from .train_reader import train_reader
from .train_student import train_student

__all__ = [
    "Calibrated",
    "CrossEncoderRecipe",
    "Leaks",
    "Mining",
    "ReaderRecipe",
    "Recipe",
    "Scored",
    "StudentRecipe",
    "calibrate",
    "keep_calibration",
    "mine_examples",
    "mine_squad",
    "open_examples",
    "read_squad",
    "score_lists",
    "train_cross_encoder",
    "train_reader",
    "train_student",
]
