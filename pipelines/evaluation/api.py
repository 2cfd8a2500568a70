"""`spanwise.evaluation`: what `spanwise eval` does, as functions.

squad        evaluate_squad of a task of open_task and a reader of load_reader; evaluate_predictions;
             fitted_threshold
open         run_open
retrieval    RetrievalTest on a collection of open_collection
folder       evaluate_retrievers with the questions of read_questions; unindexed_documents
compare      compare_systems of read_sources and read_truth, and told
"""

from __future__ import annotations

from ...reader.load import load_reader
from ..question_files import read_questions
from .compare import compare_systems, told
from .folder import evaluate_folder, evaluate_retrievers, unindexed_documents
from .open_run import run_open
from .result_folder import ResultFolder
from .retrieval import RetrievalTest, open_collection
from .scored_files import read_sources, read_truth
from .squad import open_task
from .squad_predictions import evaluate_predictions
from .squad_reader import evaluate_squad
from .squad_threshold import fitted_threshold

__all__ = [
    "ResultFolder",
    "RetrievalTest",
    "compare_systems",
    "evaluate_folder",
    "evaluate_predictions",
    "evaluate_retrievers",
    "evaluate_squad",
    "fitted_threshold",
    "load_reader",
    "open_collection",
    "open_task",
    "read_questions",
    "read_sources",
    "read_truth",
    "run_open",
    "told",
    "unindexed_documents",
]
