"""Late-interaction models give here the token vectors that sentence-transformers 6 gives, in all layouts."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from made_token_models import WIDTH, multi_vector_model, pylate_model, stanford_model

from spanwise.models.batching import Batcher
from spanwise.models.token_encoder import TokenEncoder, load_token_encoder

TEXTS = [
    "a mill",
    "The brewery, by the harbour: was founded by two sisters.",
    "word " * 90,
    "",
    "A TRAM - the mill!",
    "q",
]
PUNCTUATION = list(",.:?-!")
FIXED = {"strategy": "fixed", "attend": False, "token": None, "length": 12}
PREFIXES = {"query_prefix": "[unused0] ", "document_prefix": "[unused1] "}
LAYOUTS = {
    "plain": lambda folder: multi_vector_model(folder),
    "no mask": lambda folder: multi_vector_model(folder, ends=("Normalize",)),
    "mask last": lambda folder: multi_vector_model(
        folder, ends=("Normalize", "MultiVectorMask"), mask={"skiplist_words": PUNCTUATION}
    ),
    "no layer": lambda folder: multi_vector_model(folder, layers=()),
    "layers": lambda folder: multi_vector_model(
        folder, layers=((24, "activation.Tanh"), (5, "linear.Identity"))
    ),
    "prompts": lambda folder: multi_vector_model(
        folder, model={"prompts": {"query": "[Q] ", "document": "[D] ", "passage": "no "}}
    ),
    "lengths": lambda folder: multi_vector_model(folder, stated={"query_length": 7, "document_length": 9}),
    "general length": lambda folder: multi_vector_model(folder, stated={"max_seq_length": 11}),
    "lowercase": lambda folder: multi_vector_model(folder, stated={"do_lower_case": True}),
    "skiplist": lambda folder: multi_vector_model(
        folder, mask={"skiplist_words": [*PUNCTUATION, "absent"], "skiplist_tasks": ["query", "document"]}
    ),
    "expansion": lambda folder: multi_vector_model(folder, stated={"query_expansion": FIXED}),
    "attended": lambda folder: multi_vector_model(
        folder, stated={"query_expansion": FIXED | {"attend": True, "token": "[UNK]"}}
    ),
    "at least": lambda folder: multi_vector_model(
        folder, stated={"query_expansion": FIXED | {"strategy": "min"}, "query_length": 20}
    ),
    "expansion, roberta": lambda folder: multi_vector_model(
        folder, stated={"query_expansion": FIXED, "document_length": 40}, family="Roberta"
    ),
    "expansion, electra": lambda folder: multi_vector_model(
        folder, stated={"query_expansion": FIXED}, family="Electra"
    ),
    "pylate": lambda folder: pylate_model(
        folder, **PREFIXES, query_length=16, document_length=20, do_query_expansion=True
    ),
    "pylate attending": lambda folder: pylate_model(
        folder,
        **PREFIXES,
        query_length=16,
        document_length=20,
        attend_to_expansion_tokens=True,
        skiplist_words=["mill"],
    ),
    "pylate without expansion": lambda folder: pylate_model(
        folder,
        query_prefix="[Q] ",
        document_prefix="[D] ",
        query_length=9,
        document_length=40,
        do_query_expansion=False,
        prompts={"query": "the ", "document": ""},
    ),
    "pylate, early": lambda folder: pylate_model(folder, **PREFIXES, query_length=None, early=True),
    "stanford": lambda folder: stanford_model(folder, {"query_maxlen": 16, "doc_maxlen": 24}),
    "stanford attending": lambda folder: stanford_model(
        folder, {"query_token_id": "[unused1]", "attend_to_mask_tokens": True, "mask_punctuation": False}
    ),
}


@pytest.fixture(autouse=True)
def _in_float32(monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)


def library_model(folder):
    """What sentence-transformers makes of a folder."""
    from sentence_transformers import MultiVectorEncoder

    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    return MultiVectorEncoder(str(folder), device="cpu", local_files_only=True)


def rows_of(encoder, texts):
    vectors, lengths = encoder.encode_passages(texts)
    return np.split(vectors, np.cumsum(lengths)[:-1])


def assert_equal(found, expected, atol=1e-5):
    assert [len(rows) for rows in found] == [len(rows) for rows in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert np.allclose(ours, theirs, atol=atol)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_token_vectors_are_those_of_sentence_transformers(tmp_path, layout):
    folder = LAYOUTS[layout](tmp_path / "model")
    encoder, model = load_token_encoder(str(folder), device="cpu"), library_model(folder)
    assert_equal(encoder.encode_questions(TEXTS), model.encode_query(TEXTS, convert_to_numpy=True))
    assert_equal(rows_of(encoder, TEXTS), model.encode_document(TEXTS, convert_to_numpy=True))


@pytest.mark.parametrize("layout", ["expansion", "pylate", "stanford"])
def test_what_the_library_saves_is_read(tmp_path, layout):
    model = library_model(LAYOUTS[layout](tmp_path / "model"))
    model.save_pretrained(str(tmp_path / "saved"))
    encoder = load_token_encoder(str(tmp_path / "saved"), device="cpu")
    assert_equal(encoder.encode_questions(TEXTS), model.encode_query(TEXTS, convert_to_numpy=True))
    assert_equal(rows_of(encoder, TEXTS), model.encode_document(TEXTS, convert_to_numpy=True))


@pytest.fixture(scope="module")
def skipping(tmp_path_factory):
    """A model that skips [CLS], [SEP] and punctuation in passages, and fills up questions."""
    words = ["[CLS]", "[SEP]", *PUNCTUATION]
    folder = multi_vector_model(
        tmp_path_factory.mktemp("skipping") / "model",
        mask={"skiplist_words": words},
        stated={"query_expansion": FIXED, "document_length": 9},
        model={"prompts": {"query": "the ", "document": "text: "}},
    )
    return load_token_encoder(str(folder), device="cpu")


def test_rows_are_unit_vectors(skipping):
    vectors, lengths = skipping.encode_passages(TEXTS)
    assert vectors.shape == (lengths.sum(), WIDTH) == (len(vectors), skipping.width)
    assert vectors.dtype == np.float32
    assert lengths.dtype == np.int64
    for rows in [vectors, *skipping.encode_questions(TEXTS)]:
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("budget", [1, 40, 10_000])
def test_a_row_does_not_depend_on_its_batch(skipping, monkeypatch, budget):
    expected = [rows_of(skipping, [text])[0] for text in TEXTS]
    questions = [skipping.encode_questions([text])[0] for text in TEXTS]
    monkeypatch.setattr(skipping, "batcher", Batcher(budget))
    assert_equal(rows_of(skipping, TEXTS), expected)
    assert_equal(skipping.encode_questions(TEXTS), questions)


def test_many_windows_keep_the_order_and_are_reported(skipping, monkeypatch):
    expected, reports = rows_of(skipping, TEXTS), []
    monkeypatch.setattr("spanwise.models.batched_encoder.WINDOW", 2)
    vectors, lengths = skipping.encode_passages(TEXTS, reports.append)
    assert_equal(np.split(vectors, np.cumsum(lengths)[:-1]), expected)
    assert reports == sorted(set(reports))
    assert reports[-1] == len(TEXTS)


def test_no_text_gives_nothing(skipping):
    vectors, lengths = skipping.encode_passages([])
    assert vectors.shape == (0, WIDTH)
    assert lengths.tolist() == []
    assert skipping.encode_questions([]) == []


def test_a_passage_of_nothing_but_skipped_tokens_keeps_its_own(tmp_path):
    mask = {"skiplist_words": ["[CLS]", "[SEP]", *PUNCTUATION], "skiplist_tasks": ["query", "document"]}
    encoder = load_token_encoder(str(multi_vector_model(tmp_path / "model", mask=mask)), device="cpu")
    _, lengths = encoder.encode_passages(["- - !", "the mill.", ""])
    assert lengths.tolist() == [3, 2, 2]  # of an empty text [CLS] and [SEP] are left
    assert encoder.passage_offsets("- - !") == [(0, 1), (2, 3), (4, 5)]
    assert encoder.question_offsets("") == [None, None]


def test_offsets_say_which_words_a_row_stands_for(skipping):
    assert skipping.question_offsets("the mill") == [None, None, (0, 3), (4, 8)] + [None] * 8
    text = "the mill, Ab"
    spans = skipping.passage_offsets(text)
    assert spans[-2:] == [(0, 3), (4, 8)]  # "text: " takes five of nine tokens, the comma is skipped
    assert len(spans) == skipping.encode_passages([text])[1][0]


def test_there_is_an_offset_for_each_row(skipping):
    lengths = skipping.encode_passages(TEXTS)[1].tolist()
    assert [len(skipping.passage_offsets(text)) for text in TEXTS] == lengths
    questions = skipping.encode_questions(TEXTS)
    assert [len(skipping.question_offsets(text)) for text in TEXTS] == [len(rows) for rows in questions]


def test_what_is_covered_ends_where_a_side_is_cut(skipping):
    room = 9 - 2 - 5  # [CLS], [SEP], and the letters of "text:" without a comma
    assert skipping.covered(["a " * 40, "q"]).tolist() == [2 * room - 1, 1]
    assert skipping.covered_questions(["a " * 40, "q"]).tolist() == [2 * (12 - 3) - 1, 1]


def test_out_of_memory_changes_no_vector(skipping, monkeypatch):
    import torch

    expected, forward = rows_of(skipping, TEXTS), skipping._forward

    def short_of_memory(rows):
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(rows)

    monkeypatch.setattr(skipping, "_forward", short_of_memory)
    assert_equal(rows_of(skipping, TEXTS), expected)


def test_the_projection_can_be_reached(skipping):
    assert (skipping.projection.in_features, skipping.projection.out_features) == (32, WIDTH)


def test_bf16_stays_near(skipping, tmp_path, monkeypatch):
    monkeypatch.undo()
    folder = skipping.tower.network.folder
    fast = TokenEncoder.of_tower(load_token_encoder(str(folder), device="cpu").tower, "cpu")
    for ours, exact in zip(rows_of(fast, TEXTS), rows_of(skipping, TEXTS), strict=True):
        assert np.min(np.sum(ours * exact, axis=1)) > 0.99


def test_the_builtin_finds_the_paragraph_of_a_question(data):
    from spanwise.corpora.squad import read_squad

    articles = read_squad(data / "squad" / "dev-v1.1.json.gz").articles
    paragraphs = [paragraph for article in articles for paragraph in article.paragraphs][:200:2]
    encoder = load_token_encoder("builtin", device="cpu")
    passages = rows_of(encoder, [paragraph.context for paragraph in paragraphs])
    questions = encoder.encode_questions([paragraph.questions[0].text for paragraph in paragraphs])
    best = [np.argmax([(q @ p.T).max(axis=1).sum() for p in passages]) for q in questions]
    assert np.mean(np.array(best) == np.arange(len(best))) > 0.6
