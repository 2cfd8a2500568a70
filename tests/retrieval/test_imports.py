from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from pathlib import Path
from spanwise.index import FileState, Store
from spanwise.index.analysis import Analyzer
from spanwise.retrieval import build_retriever
from spanwise.types import Document, Passage

analyzer = Analyzer()
with Store.create(Path(sys.argv[1]), analyzer.settings()) as store:
    with store.writer() as writer:
        document = Document("a", "text/plain", "0", "", "the old mill")
        passages = [Passage(0, "a", 0, 12, "the old mill")]
        writer.put(document, passages, [analyzer.terms("the old mill")], FileState(12, 0, "0"))
        writer.commit()
    with store.snapshot() as snapshot:
        for name in ("bm25", "tfidf", "rank_bm25", "bm25+tfidf"):
            build_retriever(name, snapshot, analyzer, None).search(["mills"], 3)
print(*sorted({"torch", "transformers", "faiss", "sentence_transformers"} & set(sys.modules)))
"""


def test_lexical_search_loads_no_neural_library(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "index")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
