"""Token vectors are kept up: nothing is encoded twice, an interruption loses nothing, changes are told."""

from __future__ import annotations

import pytest

import spanwise
from spanwise.errors import IndexEmpty, ModelMismatch, ModelNotFound
from spanwise.pipelines import token_sync
from spanwise.pipelines.colbert_setting import ColbertSetting


@pytest.fixture
def library(folder, words):
    with spanwise.open(folder, colbert="builtin") as library:
        library.sync = lambda library=library: _sync(library)
        yield library


def _sync(library):
    """A sync without dense vectors, which would load a model."""
    report = type(library).sync(library, vectors=False)
    return report, library.sync_tokens()


def held(library) -> dict[str, int]:
    with library.reading() as snapshot:
        return snapshot.token_models()


def texts_of(library) -> set[str]:
    return {passage.text for passage in library.passages()}


def test_every_passage_gets_tokens_once(library, words) -> None:
    report, n_encoded = library.sync()
    assert n_encoded == report.passages == len(words["builtin"].encoded)
    assert held(library) == {"words": report.passages}
    assert library.missing_tokens() == 0
    assert library.sync()[1] == 0
    assert len(words["builtin"].encoded) == report.passages


def test_words_come_before_tokens(library) -> None:
    type(library).sync(library, vectors=False)
    assert library.missing_tokens() == len(library.passages()) > 0
    with pytest.raises(IndexEmpty, match="--colbert builtin"):
        library.search("mill", retriever="colbert")


def test_only_changed_passages_are_encoded_anew(library, folder, words) -> None:
    library.sync()
    before, already = texts_of(library), len(words["builtin"].encoded)
    (folder / "mill.md").write_text((folder / "mill.md").read_text() + "\n## Ghosts\n\nThere is one.\n")
    (folder / "tram.txt").rename(folder / "tramway.txt")
    library.sync()
    new = words["builtin"].encoded[already:]
    assert len(new) == len(texts_of(library) - before) == 1
    assert "There is one." in new[0]
    assert library.missing_tokens() == 0


def test_an_interruption_loses_nothing(library, folder, words, monkeypatch) -> None:
    monkeypatch.setattr(token_sync, "SAMPLED", 2)
    monkeypatch.setattr(token_sync, "PASSAGES_PER_COMMIT", 1)
    done = []

    def stop(stage: str, n_done: int, total: int) -> None:
        done.append(n_done)
        if stage == "tokens" and n_done == total:
            raise KeyboardInterrupt

    type(library).sync(library, vectors=False)
    n_passages = len(library.passages())
    with pytest.raises(KeyboardInterrupt):
        library.sync_tokens(stop)
    assert library.missing_tokens() == 1
    assert library.sync_tokens() == 1
    assert len(set(words["builtin"].encoded)) == n_passages
    assert len(words["builtin"].encoded) == n_passages + 1


def test_the_order_of_encoding_changes_no_ranking(folder, tmp_path, words, monkeypatch) -> None:
    def found(index):
        with spanwise.open(folder, tmp_path / index, colbert="builtin") as library:
            _sync(library)
            hits = library.search("who opened the tram?", retriever="colbert", dedupe=False)
            return [(hit.passage.document_id, hit.passage.start) for hit in hits]

    whole = found("whole")
    monkeypatch.setattr(token_sync, "PASSAGES_PER_COMMIT", 1)
    monkeypatch.setattr(token_sync, "SAMPLED", 3)
    assert found("parts") == whole


def test_tokens_are_found_and_fused(library) -> None:
    library.sync()
    for retriever in ("colbert", "bm25+colbert"):
        [hit, *_] = library.search("who opened the tram?", retriever=retriever)
        assert hit.passage.document_id == "tram.txt"
        assert "colbert" in hit.scores


def test_another_model_takes_the_place_of_the_first(library, words) -> None:
    library.sync()
    library.use_colbert("other")
    assert (held(library), library.colbert) == ({}, ColbertSetting("other"))
    n_passages = library.sync()[0].passages
    assert held(library) == {"others": n_passages}
    with library.reading() as snapshot:
        assert snapshot.codebook("words") is None


def test_a_model_whose_files_changed_is_encoded_anew(library, words) -> None:
    library.sync()
    words["builtin"].digest = "newer"
    report, n_encoded = library.sync()
    assert held(library) == {"newer": report.passages} == {"newer": n_encoded}


def test_none_drops_them_for_good(library) -> None:
    library.sync()
    library.use_colbert("none")
    assert (library.colbert, held(library), library.status()["colbert"]) == (None, {}, None)
    assert library.sync()[1] == 0
    with pytest.raises(IndexEmpty, match="--colbert builtin"):
        library.search("mill", retriever="colbert")


def test_a_model_that_is_not_there_changes_nothing(library) -> None:
    library.sync()
    with pytest.raises(ModelNotFound):
        library.use_colbert("nowhere")
    assert library.missing_tokens() == 0


def test_opening_with_another_model_is_refused_and_keeps_what_is_there(library, folder) -> None:
    library.sync()
    with pytest.raises(ModelMismatch, match="--colbert other"):
        spanwise.open(folder, colbert="other")
    with spanwise.open(folder) as again:
        assert again.colbert == ColbertSetting("builtin")
        assert again.missing_tokens() == 0


def test_a_passage_beyond_the_window_is_a_gap(library, folder, words) -> None:
    words["builtin"].window = 6
    (folder / "long.md").write_text("# A\n\none two three four five six seven eight\n")
    library.sync()
    gaps = {gap.document_id: gap.text for gap in library.gaps()}
    assert gaps["long.md"] == "five six seven eight"
    assert library.status()["beyond_window"]["documents"] == len(gaps)


def test_an_empty_folder_has_no_tokens(tmp_path, words) -> None:
    (tmp_path / "empty").mkdir()
    with spanwise.open(tmp_path / "empty", colbert="builtin") as library:
        assert _sync(library)[1] == 0
