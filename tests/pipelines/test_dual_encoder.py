"""Models with two sides, from the command line to the hits: questions and passages each by their own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made_collections import write_beir_folder
from made_encoders import dpr_pair, sentence_model, write

import spanwise
from spanwise.errors import ModelMismatch, ModelNotFound
from spanwise.index.rows import indexed_text
from spanwise.models.dual_encoder import load_encoder

QUESTION = "who opened the tram?"


@pytest.fixture(scope="session")
def pair(tmp_path_factory):
    return str(dpr_pair(tmp_path_factory.mktemp("dpr"), projection_dim=8))


def expected_order(folder, model):
    """Documents by the inner product of the two sides, computed from the texts."""
    encoder = load_encoder(model)
    with spanwise.open(folder, model=model) as library:
        passages = library.passages()
    rows = encoder.encode_passages([indexed_text(passage) for passage in passages])
    scores = rows @ encoder.encode_questions([QUESTION])[0]
    return [(passages[i].document_id, passages[i].start) for i in np.argsort(-scores, kind="stable")]


def test_index_search_and_ask_use_both_sides(run, folder, pair, reader_folder):
    assert run("index", folder, "--model", pair)[0] == 0
    code, out, _ = run("search", QUESTION, "--index", folder, "--retriever", "dense", "--json")
    hits = json.loads(out)["hits"]
    assert code == 0
    assert [(hit["document"], hit["start"]) for hit in hits] == expected_order(folder, pair)
    code, out, err = run("ask", QUESTION, "--index", folder, "--reader", reader_folder, "--json")
    assert (code, json.loads(out)["question"]) == (0, QUESTION), err


def found(folder, model, index):
    """Each hit's document and score, after a sync."""
    with spanwise.open(folder, index, model) as library:
        library.sync()
        return [(hit.passage.document_id, hit.score) for hit in library.search(QUESTION, retriever="dense")]


def test_inner_products_rank_alike_however_the_index_came_about(folder, tmp_path, pair):
    found(folder, pair, tmp_path / "grown")
    (folder / "new.txt").write_text("The word of the mill.\n")
    (folder / "mill.md").unlink()
    grown, fresh = found(folder, pair, tmp_path / "grown"), found(folder, pair, tmp_path / "fresh")
    assert [name for name, _ in grown] == [name for name, _ in fresh]
    assert np.allclose([score for _, score in grown], [score for _, score in fresh], atol=1e-3)


def test_a_collection_is_evaluated_with_both_sides(run, tmp_path, pair):
    write_beir_folder(tmp_path / "toy")
    options = ("--retriever", "dense", "--model", pair, "--measures", "RR")
    assert run("eval", "retrieval", "--data", tmp_path / "toy", *options)[0] == 0


def test_status_and_doctor_know_the_pair(run, folder, pair):
    run("index", folder, "--model", pair)
    record = json.loads(run("status", "--index", folder, "--json")[1])
    assert (record["model"], record["missing_vectors"]) == (pair, 0)
    assert run("doctor", "--index", folder)[0] == 0


def test_a_pair_is_found_again_from_another_directory(run, folder, pair, tmp_path, monkeypatch):
    (tmp_path / "pair").symlink_to(pair)
    assert run("index", folder, "--model", "pair/question::pair/passage")[0] == 0
    monkeypatch.chdir(folder)
    with spanwise.open(folder) as library:
        assert library.search(QUESTION, retriever="dense")


def test_a_model_whose_settings_changed_is_refused_and_the_command_mends_it(folder, tmp_path):
    model = sentence_model(tmp_path / "model")
    with spanwise.open(folder, model=str(model)) as library:
        library.sync()
    write(model / "config_sentence_transformers.json", {"prompts": {"document": "text: "}})
    with spanwise.open(folder) as library:
        with pytest.raises(ModelMismatch, match="spanwise index FOLDER"):
            library.search(QUESTION, retriever="dense")
        library.sync()
        assert library.search(QUESTION, retriever="dense")
        assert library.missing_vectors() == 0


@pytest.mark.parametrize("name", ["nowhere", "dpr::nowhere"])
def test_a_model_that_is_not_there_leaves_no_index(tmp_path, name):
    notes = tmp_path / "notes"
    notes.mkdir()
    with pytest.raises(ModelNotFound):
        spanwise.open(notes, model=name)
    assert list(notes.iterdir()) == []
