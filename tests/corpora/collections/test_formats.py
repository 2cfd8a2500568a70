"""Every format gives the same collection, and what is broken in it is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanwise.corpora.collections import Collection, read_collection
from spanwise.errors import DataMalformed
from spanwise.eval.ranking.qrels import read_qrels

WITHOUT_GRADE_0 = {"cacm", "npl"}  # formats that list relevant documents alone


def opened(folder: Path, split: str | None = None) -> Collection:
    return read_collection(folder, split, read_qrels)


def words(collection: Collection) -> list[str]:
    return [" ".join(f"{each.title} {each.text}".split()) for each in collection.documents]


def test_documents_come_out_alike(folder: Path) -> None:
    collection = opened(folder)
    assert [each.id for each in collection.documents] == ["1", "2", "3"]
    assert words(collection) == ["The mill It was built in 1811.", "A tram line.", "Weir Water."]


def test_queries_and_judgements_come_out_alike(folder: Path, kind: str) -> None:
    collection = opened(folder)
    assert {each.id: each.text for each in collection.queries} == {
        "1": "who built the mill",
        "2": "when does the tram run",
    }
    irrelevant = {} if kind in WITHOUT_GRADE_0 else {"3": 0}
    assert collection.qrels == {"1": {"1": 1}, "2": {"2": 1, **irrelevant}}
    assert collection.judged == collection.queries
    assert (collection.name, collection.lacks) == ("toy", ())


def test_gzipped_files_are_read(folder: Path, kind: str) -> None:
    if kind not in ("beir", "msmarco", "anserini", "trec"):
        pytest.skip("comes plain")
    before = opened(folder)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert opened(folder) == before


def test_a_document_given_twice_is_refused_with_its_place(folder: Path) -> None:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    path = next(path for path in files if "1811" in path.read_text())
    path.write_text(path.read_text() * 2)
    with pytest.raises(DataMalformed, match=rf"{path.name}, line \d+: the id '1' is given twice"):
        opened(folder)


def test_a_split_that_is_not_there_lists_those_that_are(folder: Path, kind: str) -> None:
    splits = {"beir": "test", "msmarco": "dev", "anserini": "test"}
    with pytest.raises(ValueError, match=f"there are: {splits[kind]}" if kind in splits else "has no splits"):
        opened(folder, "train")


def test_windows_line_ends_change_nothing(folder: Path) -> None:
    before = opened(folder)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert opened(folder) == before


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_gives_a_collection_or_a_named_error(folder: Path, data: st.DataObject) -> None:
    """One file cut off, one of its bytes replaced, or a line doubled: never another error."""
    path = data.draw(st.sampled_from(sorted(path for path in folder.rglob("*") if path.is_file())))
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    damaged = data.draw(
        st.sampled_from(
            [
                before[:at],
                before[:at] + b"\xff" + before[at + 1 :],
                before[:at] + b"9999999999999999999999" + before[at:],
                before[at:],
                before + before[at:],
                b"\x1f\x8b" + before,
                before.replace(b"\n", b""),
            ]
        )
    )
    try:
        path.write_bytes(damaged)
        assert opened(folder).documents
    except DataMalformed as error:
        assert path.name in str(error) or str(folder) in str(error)  # noqa: PT017
    finally:
        path.write_bytes(before)


def test_a_folder_without_a_collection_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(DataMalformed, match=r"Looked for BEIR \(corpus\.jsonl.*CACM \(cacm\.all"):
        opened(tmp_path)


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("{}")
    with pytest.raises(DataMalformed, match="is no folder"):
        opened(tmp_path / "corpus.jsonl")
