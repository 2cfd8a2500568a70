"""Answers from the cache are those that would be computed, whatever happened in between."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import tiny_span_model
from word_encoder import WordEncoder

from spanwise.index import Store
from spanwise.index.analysis import Analyzer
from spanwise.models import fingerprint, token_encoder, token_models
from spanwise.models.encoder import TextEncoder
from spanwise.models.locate import file_sha256
from spanwise.pipelines import answer_cache, code_state
from spanwise.pipelines.cache_file import CacheFile
from spanwise.pipelines.colbert_setting import ColbertSetting
from spanwise.pipelines.document_library import stage, text_document, whole
from spanwise.pipelines.library import Library
from spanwise.pipelines.records import answer_record
from spanwise.pipelines.roots import roots_setting
from spanwise.pipelines.sync import sync_vectors
from spanwise.reader import load
from spanwise.reader.evidence import FEATURES, Calibration
from spanwise.reader.load import CALIBRATION

QUESTIONS = ("Who built the mill?", "When was the weir raised?", "ada rook")
RETRIEVERS = ("bm25", "dense", "hybrid", "colbert", "bm25+colbert")
TEXTS = ("The mill was built by Ada Rook.", "The mill was built by ada rook!", "The weir was raised in 1920.")


@pytest.fixture(scope="module", autouse=True)
def _models_load_once():
    """Loads each model's weights once, and takes files for settled at once."""
    load_encoder, load_reader = TextEncoder.load, load.load_reader
    encoder_of = cache(lambda name, digest: load_encoder(name))
    reader_of = cache(lambda name, digest: load_reader(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "SETTLED_S", 0.0)
        patch.setattr(TextEncoder, "load", lambda name: encoder_of(name, digest_in(name)))
        patch.setattr(load, "load_reader", lambda name, **_: reader_of(name, digest_in(name)))
        patch.setattr(token_encoder, "load_token_encoder", WordEncoder)  # whose digest is the name
        patch.setattr(fingerprint, "token_model_fingerprint", lambda name: name)
        for known in ("absolute_token_name", "token_model_digest"):
            patch.setattr(token_models, known, lambda name: name)
        yield


@pytest.fixture(scope="module")
def second_reader(tmp_path_factory) -> str:
    return str(tiny_span_model(tmp_path_factory.mktemp("second"), seed=1))


@pytest.fixture
def world(tmp_path, encoder_folder, reader_folder):
    with World(tmp_path, encoder_folder, reader_folder) as made:
        made.put("a", TEXTS[0])
        yield made


def digest_in(name: str) -> str:
    return file_sha256(Path(name) / "model.safetensors")


def calibration(threshold: float, reader: str) -> Calibration:
    return Calibration({name: 0.1 for name in FEATURES}, 1.0, 0.0, threshold, reader, "nothing")


class World:
    """An index, a reader's folder, a library with a cache and one without."""

    def __init__(self, folder: Path, encoder: str, reader: str) -> None:
        self.index, self.encoder, self.reader = folder / "index", encoder, folder / "reader"
        shutil.copytree(reader, self.reader)
        settings = {"model": encoder, **roots_setting((), self.index), **Analyzer().settings()}
        Store.create(self.index, settings | ColbertSetting("words").settings()).close()
        self.open()

    def open(self) -> None:
        self.cached, self.plain = (Library(Store.open(self.index), cache) for cache in (True, False))

    def close(self) -> None:
        self.cached.close()
        self.plain.close()

    def reopen(self) -> None:
        self.close()
        self.open()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def put(self, name: str, text: str) -> None:
        """Adds or replaces a document, as another process would."""
        with Library(Store.open(self.index)) as library:
            with library.store.writer() as writer:
                document = text_document(name, "", text)
                stage(writer, library.analyzer, document, whole(document))
                writer.commit()
            sync_vectors(library.store, library.encoder)
            library.sync_tokens()

    def tokenize(self, model: str) -> None:
        """Encodes all tokens by another model, as another process would."""
        with Library(Store.open(self.index)) as library:
            library.use_colbert(model)
            library.sync_tokens()

    def remove(self, name: str) -> None:
        with Store.open(self.index) as store, store.writer() as writer:
            with store.snapshot() as snapshot:
                if name in snapshot.files() and len(snapshot.files()) > 1:
                    writer.remove(name)
            writer.commit()

    def calibrate(self, threshold: float) -> None:
        """Puts a calibration for the weights that are there now; loaded readers keep theirs."""
        self.reopen()
        digest = load.load_reader(str(self.reader)).digest
        calibration(threshold, digest).save(self.reader / CALIBRATION)

    def exchange(self, reader: str) -> None:
        """Puts other weights into the reader's folder, for whoever opens it next."""
        shutil.rmtree(self.reader)
        shutil.copytree(reader, self.reader)
        self.reopen()

    def damage(self, at: int) -> None:
        path = self.index / "cache.sqlite"
        self.close()
        if path.exists():
            whole_file = bytearray(path.read_bytes())
            whole_file[at % len(whole_file)] ^= 0xFF
            path.write_bytes(whole_file)
        self.open()

    def ask(self, question: str = QUESTIONS[0], **options) -> bool:
        """True when the answer was remembered; it must be the one that is computed."""
        options = {"retriever": "hybrid", "reader": str(self.reader), **options}
        answer, expected = (one.ask(question, **options) for one in (self.cached, self.plain))
        assert replace(answer, cached=False, timings_ms={}) == replace(expected, timings_ms={})
        assert set(answer.timings_ms) == ({"cache"} if answer.cached else {"retrieve", "read", "weigh"})
        return answer.cached

    def search(self, question: str = QUESTIONS[0], **options) -> None:
        assert self.cached.search(question, **options) == self.plain.search(question, **options)

    def hits(self) -> int:
        return self.cached.status()["cache"]["hits"]


def test_a_question_asked_again_is_answered_from_the_cache(world):
    assert [world.ask(), world.ask()] == [False, True]
    world.reopen()
    assert world.ask()


@pytest.mark.parametrize(
    "options",
    [
        {"k": 1},
        {"retriever": "bm25"},
        {"retriever": "bm25+colbert"},
        {"threshold": 0.0},
        {"alternatives": 0},
        {"group": False},
        {"read_all": True},
        {"question": "who built the mill?"},
    ],
)
def test_every_argument_counts(world, options):
    world.ask()
    assert not world.ask(**options)


def test_a_commit_of_another_process_counts(world):
    world.ask()
    world.put("a", TEXTS[1])  # the same terms, other characters
    assert not world.ask()


def test_the_code_counts(world, monkeypatch):
    world.ask()
    world.reopen()
    monkeypatch.setattr(answer_cache, "code_state", lambda: "other code")
    assert not world.ask()


def test_code_that_changed_while_it_runs_is_not_relied_on(monkeypatch):
    assert code_state.code_state() == code_state.code_state() is not None
    monkeypatch.setattr(code_state, "_BEGAN_NS", 0)
    assert code_state.code_state() is None


def test_a_calibration_counts_as_it_is_now(world):
    world.ask()
    world.calibrate(0.0)
    assert [world.ask(), world.ask()] == [False, True]
    world.calibrate(1.0)
    assert not world.ask()


def test_a_question_that_was_declined_keeps_its_passages_to_look_at(world):
    world.calibrate(1.0)
    records = []
    for _ in range(2):
        answer = world.cached.ask(QUESTIONS[0], retriever="hybrid", reader=str(world.reader))
        records.append(answer_record(replace(answer, timings_ms={})))
    assert [record.pop("cached") for record in records] == [False, True]
    assert records[0] == records[1]
    assert [hit["text"] for hit in records[1]["nearest"]] == [TEXTS[0]]


def test_weights_count_also_behind_the_same_name(world, second_reader):
    world.ask()
    world.exchange(second_reader)
    assert not world.ask()


def test_the_model_of_tokens_counts_also_behind_the_same_name(world, monkeypatch):
    options = {"retriever": "bm25+colbert"}
    assert [world.ask(**options), world.ask(**options), world.ask()] == [False, True, False]
    world.reopen()
    monkeypatch.setattr(fingerprint, "token_model_fingerprint", lambda name: "other files")
    assert not world.ask(**options)
    assert world.ask()  # which needs no tokens


def test_several_questions_are_computed(world):
    options = {"retriever": "bm25", "reader": str(world.reader)}
    for _ in range(2):
        assert not any(answer.cached for answer in world.cached.ask_many(QUESTIONS, **options))


def test_searches_are_remembered_too(world):
    for name in ("bm25", "dense", "colbert", "bm25", "colbert"):
        world.search(retriever=name)
    assert world.hits() == 2


def test_a_question_vector_outlives_a_commit(world, monkeypatch):
    world.search(retriever="dense")
    world.put("b", TEXTS[2])
    world.reopen()
    monkeypatch.setattr(TextEncoder, "load", None)
    [first, *_] = world.cached.search(QUESTIONS[0], retriever="dense")
    assert first.passage.document_id in {"a", "b"}


def test_the_file_holds_neither_questions_nor_text(world):
    world.ask("Who built the zeppelin mill?")
    world.search("zeppelin")
    world.close()
    held = (world.index / "cache.sqlite").read_bytes().lower()
    assert [word in held for word in (b"zeppelin", b"mill", b"rook")] == [False] * 3
    world.open()


@pytest.mark.parametrize(
    "forge",
    [
        lambda stored: json.dumps(stored | {"passages": [99]}),
        lambda stored: json.dumps(stored | {"words": "0" * 64}),
        lambda stored: json.dumps(stored | {"value": [1, 2]}),
        lambda stored: json.dumps({}),
        lambda stored: "[" * 10**5,
        lambda stored: "",
    ],
)
def test_a_row_that_says_something_else_is_computed_anew(world, forge):
    world.ask()
    with sqlite3.connect(world.index / "cache.sqlite") as db:
        [(key, seal, value)] = db.execute(
            "SELECT key, seal, value FROM entries WHERE kind = 'answer'"
        ).fetchall()
    db.close()
    with CacheFile(world.index / "cache.sqlite") as file:
        file.put("answer", key, forge(json.loads(value)).encode(), seal)
    assert not world.ask()


def test_clearing_forgets_and_turning_off_keeps_nothing(world, monkeypatch):
    world.ask()
    world.cached.clear_cache()
    assert not world.ask()
    world.cached.clear_cache()
    assert (world.plain.status()["cache"]["on"], world.hits()) == (False, 0)


def test_status_tells_the_rate(world):
    for _ in range(4):
        world.ask()
    record = world.cached.status()["cache"]
    assert (record["hits"], record["misses"], record["hit_rate"]) == (3, 1, 0.75)
    assert (record["answers"], record["vectors"], record["fault"]) == (1, 1, "")


names, questions = st.sampled_from("abc"), st.sampled_from(QUESTIONS)
steps = st.one_of(
    st.tuples(st.just("put"), names, st.sampled_from(TEXTS)),
    st.tuples(st.just("remove"), names),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("calibrate"), st.sampled_from([0.0, 0.5, 1.0])),
    st.tuples(st.just("exchange"), st.booleans()),
    st.tuples(st.just("tokenize"), st.sampled_from(["words", "others", "none"])),
    st.tuples(st.just("damage"), st.integers(0, 10**6)),
    *[st.tuples(st.just("ask"), questions, st.sampled_from([1, 3]), st.sampled_from([None, 0.0, 0.9]))] * 3,
    *[st.tuples(st.just("search"), questions, st.sampled_from(RETRIEVERS))] * 3,
)


@settings(max_examples=15)
@given(st.lists(steps, min_size=4, max_size=12))
def test_no_history_makes_an_answer_stale(
    tmp_path_factory, encoder_folder, reader_folder, second_reader, history
):
    with World(tmp_path_factory.mktemp("world"), encoder_folder, reader_folder) as world:
        world.put("a", TEXTS[0])
        for step, *given_ in history:
            if step == "ask":
                question, k, threshold = given_
                world.ask(question, k=k, threshold=threshold)
            elif step == "search":
                if world.plain.colbert or "colbert" not in given_[1]:
                    world.search(given_[0], retriever=given_[1])
            elif step == "exchange":
                world.exchange(second_reader if given_[0] else reader_folder)
            else:
                getattr(world, step)(*given_)
        for question in QUESTIONS:
            world.ask(question)
            world.ask(question)


ASKER = """
import sys
from pathlib import Path
from spanwise.models import fingerprint
from spanwise.pipelines.opening import open_index

fingerprint.SETTLED_S = 0.0
with open_index(Path(sys.argv[1])) as library:
    answer = library.ask(sys.argv[2], reader=sys.argv[3], retriever="hybrid")
    print(answer.cached, *sorted({"torch", "transformers", "faiss"} & set(sys.modules)))
"""


def test_another_process_answers_from_the_cache_without_loading_a_model(world):
    world.ask()
    command = [sys.executable, "-c", ASKER, world.index, QUESTIONS[0], world.reader]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
