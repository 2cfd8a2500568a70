"""What `spanwise eval` does, as functions: `spanwise.evaluation`.

squad        evaluate_squad of a task of open_task and a reader of load_reader; evaluate_predictions;
             fitted_threshold
open         run_open
retrieval    RetrievalTest on a collection of open_collection; evaluate_runs of read_runs
folder       evaluate_retrievers with the questions of read_questions; unindexed_documents
generation   evaluate_generation; evaluate_written for what a generator writes from a folder
fairness     evaluate_fairness
compare      compare_systems of read_sources and read_truth, and told
gate         gate, gate_record, loss_line and junit_xml
report       write_report of a ResultFolder
speed        evaluate_speed of the comparisons of chosen with Settings
"""

from __future__ import annotations

from ...reader.builtin import load_reader
from ..question_files import read_questions
from .compare import compare_systems, told
from .fairness import evaluate_fairness
from .folder import evaluate_folder, evaluate_retrievers, unindexed_documents
from .gate import Gate, gate, gate_record, loss_line
from .generation import evaluate_generation
from .junit import junit_xml
from .open_run import run_open
from .report import write_report
from .result_folder import ResultFolder
from .retrieval import RetrievalTest, open_collection
from .run_file import evaluate_runs, read_runs, run_settings
from .scored_files import read_sources, read_truth
from .speed.comparisons import chosen
from .speed.report import evaluate_speed
from .speed.settings import Settings
from .squad import open_task
from .squad_predictions import evaluate_predictions
from .squad_reader import evaluate_squad
from .squad_threshold import fitted_threshold
from .written_folder import evaluate_written

__all__ = [
    "Gate",
    "ResultFolder",
    "RetrievalTest",
    "Settings",
    "chosen",
    "compare_systems",
    "evaluate_fairness",
    "evaluate_folder",
    "evaluate_generation",
    "evaluate_predictions",
    "evaluate_retrievers",
    "evaluate_runs",
    "evaluate_speed",
    "evaluate_squad",
    "evaluate_written",
    "fitted_threshold",
    "gate",
    "gate_record",
    "junit_xml",
    "load_reader",
    "loss_line",
    "open_collection",
    "open_task",
    "read_questions",
    "read_runs",
    "read_sources",
    "read_truth",
    "run_open",
    "run_settings",
    "told",
    "unindexed_documents",
    "write_report",
]
