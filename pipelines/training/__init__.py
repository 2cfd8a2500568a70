"""`spanwise.training`: what `spanwise train` and `calibrate` do, as functions.

A teacher scores mined passages, and a smaller model learns from the scores.
"""

from __future__ import annotations

from ...corpora.datasets.ranking_examples import read_ranking_examples
from ...corpora.datasets.squad import read_squad
from ...models.training import TrainingConfig
from ...reader.labels import LabelStore, PairLabel
from ...reader.training import ReaderTrainingConfig
from ...retrieval.training.distillation import DistillationConfig
from ...retrieval.training.mining import MiningConfig
from .base import fetch_base
from .calibration import CalibrationResult, calibrate, keep_calibration
from .questions import QuestionFiles, fetch_questions
from .reader import train_reader
from .retriever import train_retriever
from .teacher_scores import LabelCounts, ListCounts, label, mine

__all__ = [
    "CalibrationResult",
    "DistillationConfig",
    "LabelCounts",
    "LabelStore",
    "ListCounts",
    "MiningConfig",
    "PairLabel",
    "QuestionFiles",
    "ReaderTrainingConfig",
    "TrainingConfig",
    "calibrate",
    "fetch_base",
    "fetch_questions",
    "keep_calibration",
    "label",
    "mine",
    "read_ranking_examples",
    "read_squad",
    "train_reader",
    "train_retriever",
]
