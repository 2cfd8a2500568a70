"""A committed index of format 4 opens with the same answers, and can be written to.

Make it again after a change of the format: `python tests/index/test_golden.py`.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spanwise.index.schema import UnreadFile
from spanwise.index.store import Store

pytestmark = pytest.mark.promise("T4")

GOLDEN = Path(__file__).parents[1] / "golden"
TEXTS = {"b.txt": ["the mill by the river", "an owl"], "a.md": ["the mill", "caf\u00e9 \U0001f642 end"]}


def answers(store: Store) -> dict[str, Any]:
    """Rows, rankings and vectors of the index."""
    from helpers.corpora import MODEL, PLAIN, vector_of
    from helpers.token_vectors import TOKEN_MODEL, tokens_of

    from spanwise.retrieval.bm25 import bm25_retriever

    with store.snapshot() as snapshot:
        dense = snapshot.vectors(MODEL).search(vector_of("the mill")[np.newaxis], 4)[0]
        late = snapshot.maxsim(TOKEN_MODEL).search([tokens_of("the mill")], 4)[0]
        lexical = bm25_retriever(snapshot, PLAIN).search(["mill owl"], 4)[0]
        return {
            "documents": [snapshot.document(name).text for name in snapshot.files()],
            "passages": [
                [p.id, p.document_id, p.start, p.end, p.text]
                for p in snapshot.passages(snapshot.passage_ids())
            ],
            "refusals": {name: file.reason for name, file in snapshot.unread_files().items()},
            "settings": dict(snapshot.settings),
            "bm25": [[hit.passage.id, round(hit.score, 9)] for hit in lexical],
            "dense": [dense.passage_ids.tolist(), np.round(dense.scores, 6).tolist()],
            "maxsim": [late.passage_ids.tolist(), np.round(late.scores, 4).tolist()],
        }


def test_the_committed_index_gives_the_same_answers(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "v4", tmp_path / "v4")
    with Store.open(tmp_path / "v4") as store:
        assert json.loads(json.dumps(answers(store))) == json.loads((GOLDEN / "v4.json").read_text("utf-8"))
        assert store.verify() == []


def test_the_committed_index_can_be_written_to(tmp_path: Path) -> None:
    from helpers.corpora import stage

    shutil.copytree(GOLDEN / "v4", tmp_path / "v4")
    with Store.open(tmp_path / "v4") as store:
        with store.writer() as writer:
            stage(writer, {"new.txt": ["the mill"]}, remove=["a.md"], vectors=True)
            writer.commit()
            assert writer.reused_vectors == 1
        assert store.verify() == []


def make() -> None:
    from helpers.corpora import PLAIN, stage

    shutil.rmtree(GOLDEN / "v4", ignore_errors=True)
    with Store.create(GOLDEN / "v4", PLAIN.settings()) as store:
        with store.writer() as writer:
            stage(writer, TEXTS | {"gone.txt": ["words that go"]}, vectors=True)
            writer.put_unread_file("broken.pdf", UnreadFile(10, 20, "rejected", "it is broken", "2"))
            writer.commit()
            writer.remove("gone.txt")
            writer.commit()
        (GOLDEN / "v4.json").write_text(json.dumps(answers(store), indent=1) + "\n", "utf-8")
    for name in ("write.lock", "catalog.sqlite-wal", "catalog.sqlite-shm"):
        (GOLDEN / "v4" / name).unlink(missing_ok=True)


if __name__ == "__main__":
    sys.path.insert(0, str(GOLDEN.parent))
    make()
