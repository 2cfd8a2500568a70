"""A library stays warm, sees every commit of every process, and holds nobody up while it is idle."""

import pytest

import spanwise
from spanwise.corpora.passages import split
from spanwise.errors import IndexEmpty
from spanwise.index.analysis import Analyzer
from spanwise.index.store import Store
from spanwise.pipelines.evaluation.corpus import put_document, text_document
from spanwise.pipelines.folders import roots_setting
from spanwise.pipelines.library.library import Library


@pytest.fixture
def path(tmp_path):
    Store.create(
        tmp_path / "index", {"model": "base", **roots_setting((), tmp_path), **Analyzer().settings()}
    ).close()
    write(tmp_path / "index", "a", "The mill was built by Ada Rook.")
    return tmp_path / "index"


@pytest.fixture
def library(path):
    with Library(Store.open(path)) as opened:
        yield opened


def write(path, name, text) -> None:
    """Commits a document as another process does: by a store of its own."""
    with Library(Store.open(path)) as other, other.store.writer() as writer:
        document = text_document(name, "", text)
        put_document(writer, other.analyzer, document, split(document))
        writer.commit()


def log_after_checkpoint(path) -> int:
    with Store.open(path) as other:
        other._catalog.rows("PRAGMA busy_timeout = 100")
        other._catalog.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        return (path / "catalog.sqlite-wal").stat().st_size


def documents_found(library) -> list[str]:
    return [hit.passage.document_id for hit in library.search("mill", retriever="bm25", dedupe=False)]


def test_postings_and_retrievers_are_built_once_for_a_commit(library, path, monkeypatch):
    from spanwise.retrieval import retrievers

    built = []
    build = retrievers.LEXICAL["bm25"]
    monkeypatch.setitem(
        retrievers.LEXICAL, "bm25", lambda *arguments: (built.append(1), build(*arguments))[1]
    )
    for _ in range(3):
        library.search("mill", retriever="bm25")
    write(path, "b", "Another mill.")
    for _ in range(3):
        library.search("mill", retriever="bm25")
    assert len(built) == 2


def test_a_snapshot_and_its_retriever_stay_as_they_are_after_a_commit(library, path):
    snapshot = library.snapshot
    retriever = library.retriever("bm25")
    write(path, "b", "Another mill.")
    assert sorted(documents_found(library)) == ["a", "b"]
    assert snapshot.n_documents == 1
    assert [hit.passage.document_id for hit in retriever.search(["mill"], 5)[0]] == ["a"]
    assert library.snapshot.n_documents == 2


def test_the_log_shrinks_while_an_idle_library_is_open(library, path):
    documents_found(library)
    with library.reading() as snapshot:
        write(path, "b", "Another mill.")
        assert snapshot.n_documents == 1
        assert log_after_checkpoint(path) > 0
    assert log_after_checkpoint(path) == 0
    assert sorted(documents_found(library)) == ["a", "b"]
    assert log_after_checkpoint(path) == 0


def test_a_new_index_has_token_vectors_and_dense_ones_once_those_are_dropped(folder):
    with spanwise.open(folder) as library:
        library.sync()
        assert library.model is None
        assert library.colbert == "builtin"
        assert library.default_retriever == "colbert"
        assert library.retriever().name == "colbert"
        assert library.missing_vectors() == 0
        with pytest.raises(IndexEmpty, match=r"has dense vectors yet\. Make them with: .*--model base"):
            library.search("mill", retriever="hybrid")
        library.use_colbert("none")
        library.sync()
        assert library.model == "base"
        assert library.colbert is None
        assert library.default_retriever == "hybrid"
        assert library.retriever().name == "bm25+dense"
        assert library.missing_vectors() == 0
