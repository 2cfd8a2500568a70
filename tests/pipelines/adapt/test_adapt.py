"""A model is installed when it is better, and only then; going back and going on lose nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_adaptation import RECIPE, Agreeing, teaching

import spanwise
from spanwise.errors import IndexCorrupt, IndexEmpty, IndexLocked, ModelMismatch
from spanwise.index.lock import WriteLock
from spanwise.pipelines.adapt.adapt import adapt
from spanwise.pipelines.colbert_setting import ColbertSetting


def held(library) -> dict[str, int]:
    with library.reading() as snapshot:
        return snapshot.token_models()


def models(library) -> list[str]:
    folder = library.store.path / "models"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_better_model_is_installed_with_its_vectors(library):
    adaptation = adapt(library, RECIPE, teaching=teaching("better"))
    one = adaptation.deciding
    assert one.difference > 0.1
    assert one.p < 0.05
    assert one.interval[0] > 0
    assert held(library) == {adaptation.installed: len(library.passages())}
    assert models(library) == [adaptation.installed]
    assert library.missing_tokens() == 0
    assert library.search(adaptation.measured[0].text, retriever="colbert")
    assert library.store.verify() == []


@pytest.mark.parametrize("kind", ["same", "worse"])
def test_a_model_that_is_not_better_is_not_installed(library, kind):
    before = held(library), dict(library.store.settings)
    adaptation = adapt(library, RECIPE, teaching=teaching(kind))
    assert adaptation.installed is None
    assert adaptation.verdict.startswith("no gain: nothing installed: mrr@10 ")
    assert (held(library), dict(library.store.settings)) == before
    assert models(library) == []


def test_a_gain_by_chance_is_not_installed(library):
    strict = replace(RECIPE, level=1e-9)
    adaptation = adapt(library, strict, teaching=teaching("better"))
    assert adaptation.deciding.difference > 0
    assert adaptation.installed is None


def test_undo_brings_the_model_before_back(library):
    before = held(library)
    adapt(library, RECIPE, teaching=teaching("better"))
    assert library.undo_adapt() == ColbertSetting("builtin")
    assert (held(library), library.colbert, models(library)) == (before, ColbertSetting("builtin"), [])
    with pytest.raises(ModelMismatch, match="nothing to undo"):
        library.undo_adapt()


def test_two_adaptations_are_undone_one_after_the_other(library, loaded):
    first = adapt(library, RECIPE, teaching=teaching("better"))
    started: list = []
    loaded.pop(str(library.store.path / "adapt" / "work" / "student"))
    loaded[library.colbert.name].window = 4  # so that the next one can be better again
    second = adapt(library, RECIPE, teaching=teaching("better", trained=started))
    assert started[0][2].endswith(first.installed)
    assert models(library) == sorted([first.installed, second.installed])
    library.undo_adapt()
    assert (list(held(library)), models(library)) == ([first.installed], [first.installed])
    library.undo_adapt()
    assert (library.colbert, models(library)) == (ColbertSetting("builtin"), [])


def test_an_index_without_tokens_gets_them_and_loses_them_again(corpus, loaded):
    with spanwise.open(corpus, cache=False) as library:
        assert adapt(library, RECIPE, teaching=teaching("better")).installed
        assert library.missing_tokens() == 0
        assert library.undo_adapt() is None
        assert (library.colbert, held(library)) == (None, {})


def test_bits_and_pooling_stay_as_they_were(library):
    library.use_colbert("builtin", bits=8, pool=2)
    library.sync_tokens()
    adapt(library, RECIPE, teaching=teaching("better"))
    assert (library.colbert.bits, library.colbert.pool) == (8, 2)


def test_an_index_that_moved_takes_its_model_with_it(library, corpus, tmp_path):
    adaptation = adapt(library, RECIPE, teaching=teaching("better"))
    library.close()
    moved = corpus.rename(tmp_path / "elsewhere")
    with spanwise.open(moved, cache=False) as again:
        assert Path(again.colbert.name).parent.parent == moved / ".spanwise"
        assert again.sync_tokens() == 0
        assert again.status()["colbert"]["adapted"]["digest"] == adaptation.installed


def test_only_the_model_itself_is_kept(library):
    adapt(library, RECIPE, teaching=teaching("better"))
    assert sorted(path.name for path in Path(library.colbert.name).iterdir()) == [
        "settings.json",
        "student.safetensors",
    ]
    assert [path.name for path in (library.store.path / "adapt").iterdir()] == ["lock"]


def test_a_damaged_model_is_named_and_can_be_undone(library, loaded):
    adapt(library, RECIPE, teaching=teaching("better"))
    (Path(library.colbert.name) / "settings.json").write_text('{"kind": "worse"}')
    loaded.clear()
    with spanwise.open(library.roots[0].folder, cache=False) as again:
        with pytest.raises(IndexCorrupt, match="adapt --undo"):
            _ = again.token_encoder
        assert again.undo_adapt() == ColbertSetting("builtin")


def test_held_back_documents_are_never_trained_on(library):
    trained: list = []
    adaptation = adapt(library, RECIPE, teaching=teaching("better", trained=trained))
    measured = {library.document(one.document_id).text for one in adaptation.measured}
    [(examples, held_out, start)] = trained
    lines = {line for text in measured for line in text.split("\n") if len(line.split()) > 20}
    shown = [text for one in (*examples, *held_out) for text in one.passages]
    assert not [text for text in shown if any(line in text for line in lines)]
    assert (len(measured), start) == (5, "builtin")


def test_the_same_seed_gives_the_same_lists_and_another_one_others(library):
    trained: list = []
    for seed in (1, 1, 2):
        adapt(library, replace(RECIPE, seed=seed), teaching=teaching("worse", trained=trained))
    assert trained[0] == trained[1]
    assert trained[0][0] != trained[2][0]


def test_an_interrupted_adaptation_goes_on(library):
    teacher, before = Agreeing(), (held(library), library.colbert)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(library, RECIPE, teaching=replace(teaching("better", teacher), train=stop))
    asked = teacher.asked
    assert (held(library), library.colbert) == before
    assert (library.store.path / "adapt" / "work" / "mined" / "training" / "lists.jsonl").is_file()
    assert adapt(library, RECIPE, teaching=teaching("better", teacher)).installed
    assert asked > 0


def test_an_interruption_while_encoding_leaves_the_index_as_it_was(library, corpus):
    before = held(library), dict(library.store.settings)

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "codebook" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(library, RECIPE, stop, teaching("better"))
    with spanwise.open(corpus, cache=False) as again:
        assert (held(again), dict(again.store.settings)) == before
        assert again.sync_tokens() == 0
        assert adapt(again, RECIPE, teaching=teaching("better")).installed


def test_another_plan_begins_anew(library):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(library, RECIPE, teaching=replace(teaching(), train=stop))
    lists = library.store.path / "adapt" / "work" / "mined" / "training" / "lists.jsonl"
    (lists).write_text("damaged")
    assert adapt(library, replace(RECIPE, seed=7), teaching=teaching()).installed


def test_two_at_once_are_refused(library):
    folder = library.store.path / "adapt"
    folder.mkdir()
    lock = WriteLock(folder / "lock")
    lock.acquire()
    with pytest.raises(IndexLocked):
        adapt(library, RECIPE, teaching=teaching())
    lock.release()


def test_too_few_questions_are_said_before_anything_is_loaded(library):
    few = replace(RECIPE, questions=20)
    adaptation = adapt(library, few, teaching=replace(teaching(), load=None))
    assert (adaptation.installed, adaptation.deciding) == (None, None)
    assert "too few" in adaptation.verdict


def test_a_teacher_that_agrees_with_nothing_leaves_too_few(library):
    class Contrary(Agreeing):
        def score(self, questions, passages, report=lambda done: None):
            return [-row for row in super().score(questions, passages)]

    adaptation = adapt(library, RECIPE, teaching=teaching("better", Contrary()))
    assert adaptation.consistent < 40
    assert adaptation.installed is None


def test_an_empty_index_and_a_strange_model_are_refused(tmp_path, loaded, library):
    (tmp_path / "empty").mkdir()
    with spanwise.open(tmp_path / "empty") as empty, pytest.raises(IndexEmpty):
        adapt(empty, RECIPE, teaching=teaching())
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "settings.json").write_text('{"kind": "same"}')
    library.use_colbert(str(strange))
    with pytest.raises(ModelMismatch, match="--colbert builtin"):
        adapt(library, RECIPE, teaching=teaching())
