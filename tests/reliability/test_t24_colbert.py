"""T24: a folder that was synced change by change ranks by token vectors like one that was indexed at once.

Codebooks are trained on what is there first, so those of two indexes differ. With 8 bits the codebook takes
no part in a token's code: both indexes hold the same codes and must rank alike. With 4 bits they are compared
by the overlap of their best ten. What a search leaves out, and what it is fused with, is compared within one
index, exactly.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from children import Say, killed_at, run
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from word_encoder import WordEncoder

import spanwise
from spanwise.errors import FilterUnknown
from spanwise.models import locate, token_encoder
from spanwise.pipelines import sync as syncing
from spanwise.pipelines.library import Library
from spanwise.types import Filter, Hit

WORDS = [f"w{number}" for number in range(40)]
QUESTIONS = ["w0 w1", "w2 w3 w4 w5 w39", "w6", "w7 w8 w7"]
NAMES = st.sampled_from([f"{folder}{name}" for folder in ("", "sub/") for name in ("a.txt", "b.md", "c.txt")])
PARAGRAPHS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=3, max_size=12).map(" ".join), min_size=1, max_size=6
)
FILES = st.dictionaries(NAMES, PARAGRAPHS, min_size=1, max_size=4)
WHERE: tuple[tuple[Filter, Callable[[str], bool]], ...] = (
    (Filter(paths=("sub/",)), lambda document: document.startswith("sub/")),
    (Filter(types=("md",)), lambda document: document.endswith(".md")),
    (Filter(paths=("a.*",), types=("txt",)), lambda document: document.endswith("a.txt")),
)
TOLERANCE = 1e-3  # of scores where codes are equal
OVERLAP = 0.8  # at 10, on average, of 4 bits by two codebooks
WHOLE = 1000  # more than there are passages


class Encoder(WordEncoder):
    """Known by its name in every process."""


def use_words() -> pytest.MonkeyPatch:
    """Puts the encoder of words in the place of the built-in model, here or in a child."""
    encoder, patch = Encoder(), pytest.MonkeyPatch()
    patch.setattr(token_encoder, "load_token_encoder", lambda name: encoder)
    digest_of = locate.model_digest
    patch.setattr(
        locate,
        "model_digest",
        lambda name, kind="encoder": encoder.digest if kind == "token-encoder" else digest_of(name, kind),
    )
    patch.setattr(syncing, "TOKENS_PER_COMMIT", 3)
    patch.setattr(syncing, "SAMPLED", 4)
    return patch


@pytest.fixture(autouse=True)
def _words():
    patch = use_words()
    yield
    patch.undo()


def open_library(folder: Path, index: Path, bits: int) -> Library:
    library = spanwise.open(folder, index, cache=False)
    library.use_colbert("builtin", bits=bits)
    return library


def sync(library: Library) -> None:
    library.sync(vectors=False)
    library.sync_tokens()


def sync_and_die(say: Say, folder: Path, index: Path, bits: int, last: int | None) -> None:
    use_words()
    with open_library(folder, index, bits) as library:
        library.sync(vectors=False)
        with killed_at(last, index) as made:
            library.sync_tokens()
    say(len(made))


def write(folder: Path, files: dict[str, list[str]]) -> None:
    for name, paragraphs in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


def ranked(library: Library, retriever: str, k: int = WHOLE, where: Filter | None = None) -> list[list[Hit]]:
    return library.search_many(QUESTIONS, k=k, retriever=retriever, dedupe=False, where=where, exact=True)


def place(hit: Hit) -> tuple[str, int, int]:
    return hit.passage.document_id, hit.passage.start, hit.passage.end


def scores(hits: list[Hit]) -> dict[tuple[str, int, int], float]:
    return {place(hit): hit.scores["colbert"] for hit in hits}


def assert_same_scores(lived: Library, fresh: Library) -> None:
    for found, expected in zip(ranked(lived, "colbert"), ranked(fresh, "colbert"), strict=True):
        assert [place(hit) for hit in found] == [place(hit) for hit in expected]
        assert scores(found) == pytest.approx(scores(expected), abs=TOLERANCE)
    fused, expected_fused = ranked(lived, "bm25+colbert"), ranked(fresh, "bm25+colbert")
    assert [list(map(place, hits)) for hits in fused] == [list(map(place, hits)) for hits in expected_fused]


def overlap(lived: Library, fresh: Library) -> float:
    """The mean share of the fresh index's best ten that the other finds among its own."""
    shares = []
    for found, expected in zip(ranked(lived, "colbert", 10), ranked(fresh, "colbert", 10), strict=True):
        best = {place(hit) for hit in expected}
        shares.append(len(best & {place(hit) for hit in found}) / len(best))
    return float(np.mean(shares))


def assert_filters_leave_the_complete_ranking(library: Library) -> None:
    """What a filter finds is the complete ranking without what it leaves out."""
    complete = ranked(library, "colbert")
    for where, is_allowed in WHERE:
        try:
            filtered = ranked(library, "colbert", WHOLE, where)
        except FilterUnknown:  # there is no file of that type
            continue
        for hits, every in zip(filtered, complete, strict=True):
            left = [(place(hit), hit.score) for hit in every if is_allowed(hit.passage.document_id)]
            assert [(place(hit), hit.score) for hit in hits] == left


class Life(RuleBasedStateMachine):
    """A folder, its index, and one that is made anew to compare them."""

    memory: Path | None = None  # where folders are made
    bits = 8

    @initialize(files=FILES)
    def make(self, files: dict[str, list[str]]) -> None:
        self.root = Path(tempfile.mkdtemp(dir=Life.memory))
        self.folder, self.index = self.root / "notes", self.root / "index"
        self.folder.mkdir()
        write(self.folder, files)
        self.overlaps: list[float] = []
        self.library = open_library(self.folder, self.index, self.bits)
        sync(self.library)

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.*") if path.is_file())

    @rule(files=FILES)
    def add_or_edit(self, files: dict[str, list[str]]) -> None:
        write(self.folder, files)
        sync(self.library)

    @precondition(lambda self: self.files())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.files())).unlink()
        sync(self.library)

    @precondition(lambda self: self.files())
    @rule(data=st.data(), new=NAMES)
    def rename(self, data: st.DataObject, new: str) -> None:
        (self.folder / new).parent.mkdir(exist_ok=True)
        data.draw(st.sampled_from(self.files())).rename(self.folder / new)
        sync(self.library)

    @rule(files=FILES)
    def words_now_tokens_later(self, files: dict[str, list[str]]) -> None:
        write(self.folder, files)
        self.library.sync(vectors=False)

    @rule(files=FILES, last=st.integers(0, 40))
    def crash(self, files: dict[str, list[str]], last: int) -> None:
        """A sync of tokens is killed: what is there can be searched, and the next sync does the rest."""
        write(self.folder, files)
        end = run(sync_and_die, self.folder, self.index, self.bits, last)
        assert end.code in (0, -signal.SIGKILL)
        with self.library.reading() as snapshot:
            n_held = sum(snapshot.token_models().values())
        if n_held:
            for hits in ranked(self.library, "colbert"):
                assert len(hits) == n_held
        sync(self.library)
        assert self.library.missing_tokens() == 0

    @rule()
    def reopen(self) -> None:
        self.library.close()
        self.library = open_library(self.folder, self.index, self.bits)

    @precondition(lambda self: self.files())
    @rule()
    def ranks_like_a_fresh_index(self) -> None:
        sync(self.library)
        path = self.root / "fresh"
        shutil.rmtree(path, ignore_errors=True)
        with open_library(self.folder, path, self.bits) as fresh:
            sync(fresh)
            if self.bits == 8:
                assert_same_scores(self.library, fresh)
            self.overlaps.append(overlap(self.library, fresh))
        assert_filters_leave_the_complete_ranking(self.library)

    def teardown(self) -> None:
        try:
            if self.files():
                self.ranks_like_a_fresh_index()
                assert np.mean(self.overlaps) >= OVERLAP
            assert self.library.store.verify() == []
        finally:
            self.library.close()
            shutil.rmtree(self.root)


def live(bits: int, lives: int, steps: int, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Life, "memory", memory)
    monkeypatch.setattr(Life, "bits", bits)
    of_length = settings(max_examples=lives, stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(Life, settings=of_length)


def test_a_short_life_ranks_like_a_fresh_index(memory, monkeypatch) -> None:
    live(8, 1, 4, memory, monkeypatch)


@pytest.mark.reliability
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_any_life_ranks_like_a_fresh_index(memory, record, nightly, monkeypatch, bits) -> None:
    lives, steps = (300, 30) if nightly else (2, 8)
    live(bits, lives, steps, memory, monkeypatch)
    record("T24", f"lives of a folder with tokens of {bits} bits", f"{lives} of up to {steps} steps")


@pytest.mark.reliability
def test_a_sync_of_tokens_killed_at_every_change_leaves_a_usable_index(memory, record) -> None:
    folder, index, before = memory / "notes", memory / "index", memory / "before"
    folder.mkdir()
    write(folder, {"a.txt": ["w0 w1 w2", "w3 w4"], "b.md": ["w5 w6 w7"]})
    assert run(sync_and_die, folder, index, 4, None).code == 0
    write(folder, {"c.txt": [f"{word} {other}" for word, other in zip(WORDS, WORDS[9:], strict=False)]})
    shutil.copytree(index, before)
    (n_changes,) = run(sync_and_die, folder, index, 4, None).said
    chosen = range(0, n_changes, max(1, n_changes // 6))
    for last in chosen:
        shutil.rmtree(index)
        shutil.copytree(before, index)
        assert run(sync_and_die, folder, index, 4, last).code == -signal.SIGKILL
        with open_library(folder, index, 4) as library:
            assert library.store.verify() == []
            with library.reading() as snapshot:
                (n_held,) = snapshot.token_models().values()
            assert {len(hits) for hits in ranked(library, "colbert")} == {n_held}
            sync(library)
            assert library.missing_tokens() == 0
            assert library.store.verify() == []
    record("T24", "kills of a sync of tokens, finished by the next", f"{len(chosen)} of {len(chosen)}")
