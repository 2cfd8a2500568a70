"""The worked examples of MaxSim, through an index and through the library."""

from __future__ import annotations

import numpy as np
import pytest
from golden_tokens import EXAMPLES, GoldenEncoder, vectors_of_words
from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpora import Corpus, stage

import spanwise
from spanwise.errors import ModelNotFound, VectorRejected
from spanwise.index.maxsim.codebook import BITS, Codebook
from spanwise.models import fingerprint, token_encoder, token_models

ATOL = 1e-3  # what compression may change of a score
DEVICES = ["cpu", "cpu:0"]  # the search of the CPU, and that of torch's devices
WIDTH = 128
LEVELS = {2: 4, 4: 16, 8: 0}


def codebook_of(vectors: np.ndarray, bits: int) -> Codebook:
    """Every vector is a centroid, so that 2 and 4 bits lose nothing."""
    levels = np.linspace(-1, 1, LEVELS[bits], dtype=np.float32)
    return Codebook(bits, vectors, levels, 0.0, len(vectors))


def index_of(corpus: Corpus, documents: dict[str, np.ndarray], codebook: Codebook):
    """An index of documents of one passage each, given by their rows; the id of each document's passage."""
    with corpus.store.writer() as writer:
        stage(writer, {name: [name] for name in documents})
        writer.commit()
    with corpus.store.writer() as writer, corpus.snapshot() as snapshot:
        passages = {passage.document_id: passage.id for passage in snapshot.all_passages()}
        writer.put_codebook("m", codebook)
        ids = [passages[name] for name in documents]
        rows = list(documents.values())
        writer.put_tokens("m", ids, np.concatenate(rows), [len(each) for each in rows])
        writer.commit()
    return passages


def scores_of(corpus: Corpus, passages: dict[str, int], question: np.ndarray, device: str, exact: bool):
    """The score of each document by name."""
    with corpus.snapshot() as snapshot:
        (ranking,) = snapshot.maxsim("m", exact, device).search([question], len(passages))
        names = {number: name for name, number in passages.items()}
        found = zip(ranking.passage_ids.tolist(), ranking.scores.tolist(), strict=True)
        return {names[number]: score for number, score in found}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_l4_to_l6_through_an_index(corpus_of, example, bits, device, exact) -> None:
    question, texts, expected = EXAMPLES[example]
    vectors = vectors_of_words(WIDTH)
    encoder, corpus = GoldenEncoder(vectors), corpus_of({})
    documents = {name: encoder.rows(text) for name, text in texts.items()}
    passages = index_of(corpus, documents, codebook_of(np.stack(list(vectors.values())), bits))
    assert scores_of(corpus, passages, encoder.rows(question), device, exact) == pytest.approx(
        expected, abs=ATOL
    )


def library_of(folder, texts: dict[str, str], encoder: GoldenEncoder, bits: int, monkeypatch):
    """A library of files, one passage each, whose words this encoder knows."""

    def known(name: str) -> GoldenEncoder:
        if name != "golden":
            raise ModelNotFound(name)
        return encoder

    monkeypatch.setattr(token_encoder, "load_token_encoder", known)
    monkeypatch.setattr(token_models, "absolute_token_name", lambda name: known(name).digest)
    monkeypatch.setattr(token_models, "token_model_digest", lambda name: known(name).digest)
    monkeypatch.setattr(fingerprint, "token_model_fingerprint", lambda name: known(name).digest)
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    library = spanwise.open(folder, cache=False)
    library.use_colbert("golden", bits=bits)
    library.sync(vectors=False)
    library.sync_tokens()
    return library


@pytest.mark.parametrize(("width", "bits"), [(4, 4), (WIDTH, 8)])
@pytest.mark.parametrize("example", EXAMPLES)
def test_l4_to_l6_through_the_library(tmp_path, monkeypatch, example, width, bits) -> None:
    question, texts, expected = EXAMPLES[example]
    encoder = GoldenEncoder(vectors_of_words(width))
    with library_of(tmp_path / "notes", texts, encoder, bits, monkeypatch) as library:
        hits = library.search(question, retriever="colbert", dedupe=False)
        found = {hit.passage.document_id.removesuffix(".txt"): hit.score for hit in hits}
        assert found == pytest.approx(expected, abs=ATOL)
        assert [hit.scores["colbert"] for hit in hits] == [hit.score for hit in hits]


@pytest.mark.parametrize("device", DEVICES)
def test_l7_a_shorter_document_is_not_padded_with_a_match(corpus_of, device) -> None:
    """d1 has one row, beside documents of many: a zero row would raise its best match with `mat` to 0."""
    question, texts, expected = EXAMPLES["L6"]
    vectors = vectors_of_words(WIDTH)
    encoder, corpus = GoldenEncoder(vectors), corpus_of({})
    long = {f"long{n}": "x " * n + "y" for n in (1, 6, 7, 8, 30)}
    documents = {name: encoder.rows(text) for name, text in (texts | long).items()}
    passages = index_of(corpus, documents, codebook_of(np.stack(list(vectors.values())), 4))
    found = scores_of(corpus, passages, encoder.rows(question), device, True)
    assert {name: found[name] for name in texts} == pytest.approx(expected, abs=ATOL)


def test_l7_a_row_of_zeros_is_no_token_vector(corpus_of) -> None:
    vectors = vectors_of_words(WIDTH)
    rows = np.stack([vectors["dog"], np.zeros(WIDTH, np.float32)])
    with pytest.raises(VectorRejected, match="zero"):
        index_of(corpus_of({}), {"d1": rows}, codebook_of(np.stack(list(vectors.values())), 4))


def some_rows(n: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, 8))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_l8_properties(tmp_path_factory, device, n_question, n_passage, seed) -> None:
    question, passage = some_rows(n_question, seed), some_rows(n_passage, seed + 100)
    extra, order = some_rows(1, seed + 200), np.random.default_rng(seed).permutation(n_passage)
    documents = {
        "itself": question,
        "passage": passage,
        "more": np.concatenate([passage, extra]),
        "permuted": passage[order],
    }
    corpus = Corpus(tmp_path_factory.mktemp("l8") / "index")
    with corpus.store:
        passages = index_of(corpus, documents, codebook_of(np.concatenate(list(documents.values())), 4))
        found = scores_of(corpus, passages, question, device, True)
        assert found["itself"] == pytest.approx(n_question, abs=ATOL)
        assert max(found.values()) <= n_question + ATOL
        assert found["more"] >= found["passage"] - 1e-6
        assert found["permuted"] == pytest.approx(found["passage"], abs=1e-6)
        with corpus.snapshot() as snapshot:
            index = snapshot.maxsim("m", True, device)
            asked = [question, some_rows(20, 1), question[:1]]
            together, alone = index.search(asked, 4), [index.search([each], 4)[0] for each in asked]
        for one, other in zip(together, alone, strict=True):
            assert one.passage_ids.tolist() == other.passage_ids.tolist()
            assert np.allclose(one.scores, other.scores, rtol=0, atol=1e-6)


def test_l9_one_vector_a_token_is_computed_and_stored_before_any_question(tmp_path, monkeypatch) -> None:
    _, texts, _ = EXAMPLES["L6"]
    encoder = GoldenEncoder(vectors_of_words(WIDTH))
    with library_of(tmp_path / "notes", texts, encoder, 8, monkeypatch) as library:
        with library.reading() as snapshot:
            stored = snapshot.stored_tokens("golden")
            words = [len(text.split()) for text in encoder.encoded]
            assert (sorted(stored.lengths.tolist()), stored.width) == (sorted(words), WIDTH)
            for rows in stored.decoded(stored.passage_ids):
                assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=0.01)
        n_encoded = len(encoder.encoded)
        library.search("cat mat", retriever="colbert")
        assert len(encoder.encoded) == n_encoded
