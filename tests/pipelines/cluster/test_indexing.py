"""Shards are made, brought up to date, split anew, and checked."""

import json

import numpy as np
import pytest
from helpers.notes import write_notes

import spanwise
from spanwise.errors import FormatTooNew, IndexCorrupt
from spanwise.index.shards import shard_folders, shard_of
from spanwise.index.store import Store
from spanwise.pipelines.cluster import indexing
from spanwise.pipelines.cluster.indexing import split_index
from spanwise.pipelines.cluster.replicas import LocalShards
from spanwise.pipelines.library.status import verify


@pytest.fixture
def notes(tmp_path):
    write_notes(tmp_path / "notes", 12, 40)
    return tmp_path / "notes"


def generations(index):
    generations = []
    for path in shard_folders(index):
        with Store.open(path) as store, store.snapshot() as snapshot:
            generations.append(snapshot.generation)
    return generations


def open_shards(notes, shards=4, **options):
    return spanwise.open(notes, notes.parent / "index", cache=False, shards=shards, **options)


def test_a_sync_changes_the_shard_of_a_changed_file_alone(notes):
    with open_shards(notes) as library:
        assert len(library.sync(vectors=False).added) == 12
        before = generations(library.store.path)
        (notes / "n0003.md").write_text("# New\n\nThe quetzal of the weir.\n", encoding="utf-8")
        report = library.sync(vectors=False)
        after = generations(library.store.path)
        assert report.updated == ("n0003.md",)
        assert report.unchanged == 11
        assert report.found == 12
        changed = [number for number in range(4) if before[number] != after[number]]
        assert changed == [shard_of("n0003.md", 4)]
        assert library.search("quetzal weir", retriever="bm25")[0].passage.document_id == "n0003.md"
        (notes / "n0003.md").unlink()
        assert library.sync(vectors=False).deleted == ("n0003.md",)
        assert verify(library.store.path).problems == ()


def test_a_shard_opens_alone_and_keeps_to_its_documents(notes):
    with open_shards(notes) as library:
        library.sync(vectors=False)
        path = shard_folders(library.store.path)[shard_of("n0003.md", 4)]
    with spanwise.open_index(path, cache=False) as alone:
        own = {file["document"] for file in alone.files()}
        assert {shard_of(name, 4) for name in own} == {shard_of("n0003.md", 4)}
        assert alone.sync(vectors=False).unchanged == len(own) > 0


def test_shards_keep_the_documents_of_an_emptied_folder(notes):
    with open_shards(notes) as library:
        library.sync(vectors=False)
        for path in notes.iterdir():
            path.unlink()
        assert library.sync(vectors=False).kept == library.status()["absent"] == 12
        assert len(library.sync(vectors=False, accept_deletions=True).deleted) == 12


def test_all_shards_have_one_codebook_and_nothing_is_encoded_twice(notes, encoders):
    encoders["token-encoder"].encoded.clear()
    with open_shards(notes, colbert="builtin") as library:
        assert library.sync().encoded_tokens + len(encoders["token-encoder"].encoded) >= 12
        assert len(encoders["token-encoder"].encoded) == len(library.passages())
        assert library.missing_vectors() == 0
        books = []
        for path in shard_folders(library.store.path):
            with Store.open(path) as store, store.snapshot() as snapshot:
                books.append(snapshot.codebook("words").centroids)
        shared = min(books, key=len)  # the others may have extended it
        assert all(np.array_equal(book[: len(shared)], shared) for book in books)
        library.use_colbert(None)
        library.use_model("base")
        library.sync()
        assert library.default_retriever == "hybrid"
        assert library.missing_vectors() == 0


def test_a_shard_that_cannot_be_reached_is_encoded_too(notes, encoders, monkeypatch):
    with open_shards(notes, colbert="builtin") as library:
        library.sync()
        (notes / "n0003.md").write_text("# New\n\nThe quetzal of the weir.\n", encoding="utf-8")
        library.sync(vectors=False)
        ask = LocalShards.ask
        lost = shard_of("n0003.md", 4)

        def ask_others(shards, calls):
            return ask(shards, {number: call for number, call in calls.items() if number != lost})

        with monkeypatch.context() as patch:
            patch.setattr(LocalShards, "ask", ask_others)
            assert library.left_out(retriever="bm25") == "3 of 4 shards"
            library.encode()
        assert library.missing_vectors() == 0


def test_another_number_of_shards_encodes_nothing(notes, encoders):
    with open_shards(notes, 2, colbert="builtin") as library:
        library.sync()
        before = library.search_many(["mill owl"], retriever="bm25+colbert")
    encoders["token-encoder"].encoded.clear()
    with open_shards(notes, 5) as library:
        folders = [path.name for path in shard_folders(library.store.path)]
        assert folders == [f"shard-{number:04}.2" for number in range(5)]
        assert sorted(path.name for path in library.store.path.glob("shard-*")) == sorted(folders)
        assert library.missing_vectors() == 0
        assert library.sync().unchanged == 12
        after = library.search_many(["mill owl"], retriever="bm25+colbert")
    assert encoders["token-encoder"].encoded == []
    assert [[h.scores for h in hits] for hits in after] == [[h.scores for h in hits] for hits in before]


def test_copies_of_a_passage_keep_their_vectors_in_a_split(notes, encoders, monkeypatch):
    for number in range(12):
        (notes / f"n{number:04}.md").write_text("The mill and the weir.\n", encoding="utf-8")
    with open_shards(notes, 2, colbert="builtin") as library:
        library.sync()
        index = library.store.path
    monkeypatch.setattr("spanwise.pipelines.cluster.indexing.PASSAGES_PER_COMMIT", 2)
    monkeypatch.setattr("spanwise.index.shards.COPIED_TOGETHER", 3)
    split_index(index, 1)
    with spanwise.open_index(index, cache=False) as library:
        assert len(library.passages()) == 12
        assert library.missing_vectors() == 0
        assert verify(index).problems == ()


def interrupt(*arguments):
    raise KeyboardInterrupt


def test_an_interrupted_split_starts_again(notes, monkeypatch):
    with open_shards(notes, 2) as library:
        library.sync(vectors=False)
        index = library.store.path
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "write_manifest", interrupt)
        with pytest.raises(KeyboardInterrupt):
            split_index(index, 3)
    with spanwise.open_index(index, cache=False) as library:
        assert library.status()["documents"] == 12
    split_index(index, 3)
    with spanwise.open_index(index, cache=False) as library:
        assert library.status()["documents"] == 12
        assert len(list(index.glob("shard-*"))) == 3


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", IndexCorrupt),
        ('{"format": 1, "shards": []}', IndexCorrupt),
        ('{"format": 1, "shards": ["../x"]}', IndexCorrupt),
        ('{"format": 2, "shards": ["a"]}', FormatTooNew),
    ],
)
def test_a_damaged_manifest_is_refused_by_name(tmp_path, content, error):
    (tmp_path / "shards.json").write_text(content, encoding="utf-8")
    with pytest.raises(error, match=r"shards\.json"):
        spanwise.open_index(tmp_path)


def test_shards_are_made_and_searched_from_the_command_line(notes, run):
    index = notes.parent / "index"
    code, out, err = run("index", notes, "--index", index, "--shards", 3, "--lexical-only")
    assert code == 0, err
    assert out == f"12 documents, 12 passages in {index}\n"
    code, out, _ = run("search", "mill owl", "--index", index, "--retriever", "bm25", "--json")
    assert code == 0
    assert json.loads(out)["hits"]
    assert "partial" not in json.loads(out)
    assert run("verify", "--index", index)[0] == 0
    assert run("index", "--index", index, "--shards", 2, "--lexical-only")[0] == 0
    assert len(shard_folders(index)) == 2
    code, _, err = run(
        "search", "mill", "--index", index / "shard-0000.2", "--retriever", "bm25", "--ray", "local"
    )
    assert code == 2
    assert "no shards" in err


def test_a_wrong_number_or_place_of_shards_is_named(notes):
    with pytest.raises(ValueError, match="expected 1 to"):
        open_shards(notes, 0)
    with pytest.raises(ValueError, match="--index DIR"):
        spanwise.open(notes, shards=2)
    assert not (notes / ".spanwise").exists()
