"""Threads share one library while it is synced; one that is closed says so."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.played_model import BUILT, Played
from helpers.scripted_reader import Flat, read_by

from spanwise.errors import IndexClosed
from spanwise.reader.generators.protocol import Completion

N_THREADS = 16
N_ROUNDS = 10
QUESTIONS = {"Who built the mill?": "mill.md", "Who opened the tram?": "tram.txt"}


def test_threads_get_right_results_while_the_index_is_synced(folder, library, monkeypatch):
    script = ("Ada Rook", 3.0, 0.0), ("Ute Falk", 3.0, 0.0)
    read_by(library, monkeypatch, *script, encoder=library.encoder)  # which the sync and the questions share
    stop = threading.Event()
    synced = []

    def write() -> None:
        while not stop.is_set():
            (folder / "gate.txt").write_text(f"Gate number {len(synced)} is painted green.")
            synced.append(library.sync(workers=1))

    def ask(number: int) -> list[tuple[str, str, str]]:
        rows = []
        for question, document in [*QUESTIONS.items()] * N_ROUNDS:
            answer = library.ask(question, k=1, retriever="bm25", threshold=0.0)
            [hit] = library.search(question, k=1, retriever="bm25")
            rows.append((document, hit.passage.document_id, answer.best.span.document_id))
        return rows

    with ThreadPoolExecutor(N_THREADS + 1) as pool:
        writer = pool.submit(write)
        rows = [row for rows_of_thread in pool.map(ask, range(N_THREADS)) for row in rows_of_thread]
        stop.set()
        writer.result()
    assert len(rows) == N_THREADS * N_ROUNDS * 2
    assert all(len(set(row)) == 1 for row in rows)
    assert [len(report.updated) + len(report.added) for report in synced] == [1] * len(synced)
    assert library.search("gate", k=1, retriever="bm25")[0].passage.document_id == "gate.txt"


def test_a_model_that_two_threads_want_is_loaded_once(library, monkeypatch):
    from spanwise.models import encoder

    class Slow(Flat):
        digest = "slow"

    loaded = []
    never = threading.Event()

    def load(name: str) -> Slow:
        loaded.append(name)
        never.wait(0.2)
        return Slow()

    monkeypatch.setattr(encoder, "load_encoder", load)
    with ThreadPoolExecutor(8) as pool:
        encoders = list(pool.map(lambda _: library.encoder, range(8)))
    assert len(loaded) == 1
    assert len({id(encoder) for encoder in encoders}) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda library: library.search_many(["mill", "tram"], retriever="bm25"),
        lambda library: library.ask("mill"),
        lambda library: library.sync(),
        lambda library: library.status(),
        lambda library: library.document("mill.md"),
        lambda library: library.roots,
        lambda library: library.store.writer(),
    ],
)
def test_use_after_close_is_a_named_error(library, use):
    library.search("mill", retriever="bm25")
    library.close()
    library.close()
    with pytest.raises(IndexClosed, match=r"\.spanwise was closed: open it again"):
        use(library)


def test_nobody_waits_for_the_server_of_a_model(folder, library):
    waits = threading.Event()
    may_end = threading.Event()

    class OnServer(Played):
        def complete(self, messages, max_tokens, schema, idle_s, total_s):
            waits.set()
            assert may_end.wait(20)
            return Completion(self.replies.pop(0))

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(library.ask, "Who built the mill?", retriever="bm25", reader=OnServer(BUILT))
        assert waits.wait(20)
        (folder / "gate.txt").write_text("The gate is painted green.")
        library.sync(vectors=False)
        assert library.search("gate", k=1, retriever="bm25")[0].passage.document_id == "gate.txt"
        may_end.set()
        assert asked.result().written[0].text == "Ada Rook built it in 1811."
    assert library.search("gate", k=1, retriever="bm25")[0].passage.document_id == "gate.txt"


def test_closing_waits_for_the_thread_that_computes(library):
    began = threading.Event()
    may_end = threading.Event()
    ended = []

    def compute() -> None:
        with library.reading() as snapshot:
            began.set()
            may_end.wait(20)
            ended.append(snapshot.n_documents)

    worker = threading.Thread(target=compute)
    worker.start()
    began.wait(20)
    closer = threading.Thread(target=library.close)
    closer.start()
    may_end.set()
    worker.join(20)
    closer.join(20)
    assert ended == [3]
