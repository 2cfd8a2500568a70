"""What `spanwise train` and `calibrate` do, as functions: `spanwise.training`."""

from __future__ import annotations

from ...corpora.datasets.ranking_examples import read_ranking_examples
from ...corpora.datasets.squad import read_squad
from ...models.training import TrainingConfig
from ...reader.labels import LabelStore, PairLabel
from ...reader.training import ReaderTrainingConfig
from ...retrieval.training.distillation import DistillationConfig
from ...retrieval.training.mining import MiningConfig
from .base import fetch_base
from .calibrate import Calibrated, calibrate, keep_calibration
from .label import Labelled, label
from .mining import Mined, mine
from .questions import Fetched, fetch_questions
from .reader import train_reader
from .retriever import train_retriever

__all__ = [
    "Calibrated",
    "DistillationConfig",
    "Fetched",
    "LabelStore",
    "Labelled",
    "Mined",
    "MiningConfig",
    "PairLabel",
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
