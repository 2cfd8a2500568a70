"""What a writer does with tokens: refuse, store, take over, drop; and how its codebook grows."""

import numpy as np
import pytest
from helpers.corpora import MODEL, stage
from helpers.token_vectors import TOKEN_MODEL, WIDTH, codebook, decoded, maxsim, put_tokens, tokens_of

from spanwise.errors import IndexCorrupt, IndexEmpty, VectorRejected
from spanwise.index.catalog import CatalogWriter
from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.schema import SegmentEntry
from spanwise.index.segment import open_segment, write_segment

TEXTS = {"a": ["one two", "three", "four five six"], "b": ["seven"]}
GOOD = np.concatenate([tokens_of(text) for text in TEXTS["a"]])
LENGTHS = [2, 1, 3]


@pytest.fixture
def corpus(corpus_of):
    """Four passages, of which the last has tokens."""
    corpus = corpus_of(TEXTS)
    with corpus.store.writer() as writer:
        put_tokens(writer, [4], TEXTS["b"])
        writer.commit()
    return corpus


def with_row(*row):
    matrix = GOOD.copy()
    matrix[3] = [*row, *[0] * (WIDTH - len(row))]
    return matrix


BAD = {
    "nan": (with_row(np.nan), LENGTHS, r"passage 3 \(token 0\) holds NaN or infinity"),
    "zero": (with_row(0), LENGTHS, "is zero"),
    "too long": (with_row(1.0011), LENGTHS, "has length 1.0011 instead of 1"),
    "float64": (GOOD.astype(np.float64), LENGTHS, "must be float32, not float64"),
    "narrow": (np.eye(6, 4, dtype=np.float32), LENGTHS, "width 8, not 4"),
    "too few": (GOOD[:5], LENGTHS, "5 vectors for 6 rows"),
    "an empty passage": (GOOD, [3, 0, 3], r"passage 2 has no vectors \(0\)"),
    "a length too few": (GOOD, [3, 3], "lengths must be 3 integers"),
}


@pytest.mark.promise("T15")
@pytest.mark.parametrize("kind", BAD)
def test_bad_tokens_are_refused_and_nothing_changes(corpus, kind) -> None:
    before = corpus.store.commit_digest()
    vectors, lengths, message = BAD[kind]
    with corpus.store.writer() as writer:
        with pytest.raises(VectorRejected, match=message):
            writer.put_tokens(TOKEN_MODEL, [1, 2, 3], vectors, lengths)
        assert writer.commit() == 2
    assert corpus.store.commit_digest() == before
    assert corpus.store.verify() == []


def test_stored_tokens_are_near_those_that_were_put(corpus) -> None:
    with corpus.store.writer() as writer:
        assert writer.put_tokens(TOKEN_MODEL, [1, 2, 3], GOOD, LENGTHS) == 3
        writer.commit()
    with corpus.snapshot() as snapshot:
        vectors_of_passages = decoded(snapshot)
        for number, text in enumerate([*TEXTS["a"], *TEXTS["b"]], start=1):
            assert (vectors_of_passages[number] * tokens_of(text)).sum(axis=1) == pytest.approx(1, abs=0.05)
        assert snapshot.token_models() == {TOKEN_MODEL: 4}
        assert snapshot.without_tokens(TOKEN_MODEL).tolist() == []
        assert snapshot.vector_models() == {}
    assert corpus.store.verify() == []


def test_without_a_codebook_there_are_no_tokens(corpus) -> None:
    with corpus.store.writer() as writer, pytest.raises(ValueError, match="model other has no codebook"):
        writer.put_tokens("other", [1, 2, 3], GOOD, LENGTHS)
    with corpus.snapshot() as snapshot:
        assert snapshot.codebook("other") is None
        assert snapshot.without_tokens("other").tolist() == [1, 2, 3, 4]
        for ask in (snapshot.stored_tokens, snapshot.maxsim):
            with pytest.raises(IndexEmpty, match="no passage has tokens of model other"):
                ask("other")


def test_after_tokens_are_dropped_others_can_be_put(corpus) -> None:
    with corpus.store.writer() as writer:
        writer.drop_tokens(TOKEN_MODEL)
        writer.put_codebook(TOKEN_MODEL, Codebook.train(GOOD, 9))
        put_tokens(writer, [2, 4], ["three", "seven"])
        writer.commit()
    with corpus.snapshot() as snapshot:
        assert sorted(decoded(snapshot)) == [2, 4]
    with corpus.store.writer() as writer:
        writer.drop_tokens(TOKEN_MODEL)
        writer.drop_tokens("never there")
        writer.commit()
    with corpus.snapshot() as snapshot:
        assert snapshot.token_models() == {}
        assert snapshot.codebook(TOKEN_MODEL) is None
    assert len(list((corpus.store.path / "segments").iterdir())) == 1  # the postings
    assert corpus.store.verify() == []


def test_a_rename_takes_vectors_and_tokens_over_and_counts_once(corpus) -> None:
    with corpus.store.writer() as writer:
        stage(writer, {"c": TEXTS["a"]}, vectors=True)
        writer.commit()
        stage(writer, {"renamed": TEXTS["a"]}, remove=["c"])
        writer.commit()
        assert writer.reused_vectors == 3
    with corpus.snapshot() as snapshot:
        vectors_of_passages = decoded(snapshot)
        for passage in snapshot.passages([8, 9, 10]):
            own = maxsim(tokens_of(passage.text), vectors_of_passages[passage.id])
            assert own == pytest.approx(len(passage.text.split()), abs=0.2)
        assert not {8, 9, 10} & set(snapshot.without_vectors(MODEL).tolist())
    assert corpus.store.verify() == []


def test_an_index_that_grows_from_few_tokens_gets_enough_centroids(corpus_of) -> None:
    corpus = corpus_of({})
    words = [f"word{number}" for number in range(3000)]
    sizes = []
    for number in range(20):
        part = words[150 * number : 150 * number + 150]
        with corpus.store.writer() as writer:
            texts = [" ".join(part[start : start + 10]) for start in range(0, 150, 10)]
            stage(writer, {f"d{number}": texts}, vectors=True)
            writer.commit()
        with corpus.snapshot() as snapshot:
            sizes.append(len(snapshot.codebook(TOKEN_MODEL).centroids))
            kinds = [part.kind for part in snapshot._segments]
            assert kinds.count("codebook") == 1
            assert kinds.count("tokens") < 7
    whole = Codebook.train(np.concatenate([tokens_of(word) for word in words]), len(words))
    assert sizes == sorted(sizes)
    assert sizes[-1] >= len(whole.centroids) / 3
    with corpus.snapshot() as snapshot:
        vectors_of_passages = decoded(snapshot)
        for passage in snapshot.passages(snapshot.passage_ids()):
            own = maxsim(tokens_of(passage.text), vectors_of_passages[passage.id])
            assert own > 9.5, passage.text
    assert corpus.store.verify() == []


def test_a_codebook_stays_while_it_has_tokens(corpus) -> None:
    with corpus.store.writer() as writer:
        with pytest.raises(ValueError, match="has tokens of another codebook: drop them first"):
            writer.put_codebook(TOKEN_MODEL, Codebook.train(tokens_of("other words"), 9))
        assert writer.commit() == 2
    assert corpus.store.verify() == []


@pytest.fixture
def store(corpus_of):
    corpus = corpus_of({})
    with corpus.store.writer() as writer:
        stage(writer, {"a": ["w1 w2", "w3"], "b": ["w4"]}, vectors=True)
        writer.commit()
    return corpus.store


def replace(store, kind, *others):
    """Name other segments of a kind instead of the one that there is, with a seal that is right."""
    catalog = CatalogWriter.open(store.path / "catalog.sqlite")
    (old,) = [entry for entry in catalog.segments() if entry.kind == kind]
    catalog.drop_segments([old.id])
    for columns in others:
        name = write_segment(store.path / "segments", kind, TOKEN_MODEL, columns)
        catalog.add_segment(SegmentEntry(name, kind, TOKEN_MODEL, old.rows))
    catalog.commit()
    catalog.close()


def columns_of(store, kind):
    with store.snapshot() as snapshot:
        (path,) = [part.path for part in snapshot._segments if part.kind == kind]
    return {name: column.copy() for name, column in open_segment(path).columns.items()}


def complaint(store) -> str:
    (line,) = store.verify()
    return line


@pytest.mark.parametrize(("number", "says"), [(0, "lacks the codebook"), (2, "two codebooks")])
def test_tokens_need_a_single_codebook(store, number, says) -> None:
    both = [codebook().columns(), Codebook.train(GOOD, 9).columns()]
    replace(store, "codebook", *both[:number])
    assert f"model t has {number} codebooks instead of one" in complaint(store)
    with store.snapshot() as snapshot, pytest.raises(IndexCorrupt, match=f"{says} of model t"):
        snapshot.maxsim(TOKEN_MODEL)


@pytest.mark.parametrize("name", ["centroids", "values", "scales", "sums"])
def test_tokens_that_do_not_match_their_sums_are_named(store, name) -> None:
    columns = columns_of(store, "tokens")
    columns[name].view("u1").reshape(-1)[0] ^= 1
    replace(store, "tokens", columns)
    assert "the data of a passage do not match their sum" in complaint(store)


def test_tokens_of_unknown_passages_are_named(store) -> None:
    columns = columns_of(store, "tokens")
    columns["passage_ids"] += 1
    replace(store, "tokens", columns)
    assert "the tokens t are not those of the live passages" in complaint(store)
