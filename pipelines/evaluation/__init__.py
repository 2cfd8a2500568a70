"""`spanwise.evaluation`: what `spanwise eval` does, as functions.

squad        evaluate_squad of a task of open_task and a reader of load_reader, or evaluate_predictions
open         evaluate_open
retrieval    evaluate_retrieval of a collection of open_collection
folder       evaluate_folder with the questions of read_questions
compare      compare_results
"""

from __future__ import annotations

from ...corpora.datasets.beir import read_beir as open_collection
from ...reader.load import load_reader
from .corpus import read_questions
from .folder import evaluate_folder, unindexed_documents
from .results import ResultFolder, SystemComparison, compare_results
from .retrieval import evaluate_open, evaluate_retrieval
from .squad import evaluate_predictions, evaluate_squad, open_task

__all__ = [
    "ResultFolder",
    "SystemComparison",
    "compare_results",
    "evaluate_folder",
    "evaluate_open",
    "evaluate_predictions",
    "evaluate_retrieval",
    "evaluate_squad",
    "load_reader",
    "open_collection",
    "open_task",
    "read_questions",
    "unindexed_documents",
]
