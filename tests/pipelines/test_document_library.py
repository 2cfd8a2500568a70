"""Documents that are no files get a library, made once and gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwise.pipelines.document_library import document_library, text_document, whole

LONG = " ".join(f"Sentence {i} tells of the mill." for i in range(200))
DOCUMENTS = [
    text_document("a b%c", "Mills", LONG),
    text_document("2", "Only a title", " "),
    text_document("3", "", ""),
]


def test_split_cuts_and_whole_does_not(tmp_path: Path) -> None:
    with document_library(DOCUMENTS, tmp_path / "split") as library:
        assert len([each for each in library.passages() if each.document_id == "a b%c"]) > 5
    with document_library(DOCUMENTS, tmp_path / "whole", "whole") as library:
        assert [each.text for each in library.passages()] == ["Only a title", LONG]


def test_a_title_is_found_with_its_text(tmp_path: Path) -> None:
    with document_library(DOCUMENTS, tmp_path / "index", "whole") as library:
        [hit] = library.search("mills tells", retriever="bm25", k=1)
        assert (hit.passage.document_id, hit.passage.heading) == ("a b%c", ("Mills",))
        assert library.search("only title", retriever="bm25", k=1)[0].passage.document_id == "2"


def test_white_space_around_a_whole_document_is_left_out() -> None:
    [passage] = whole(text_document("1", "", "\n mill \n"))
    assert (passage.start, passage.end, passage.text, passage.line) == (2, 6, "mill", 2)


def test_what_an_interruption_left_out_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("spanwise.pipelines.document_library.PASSAGES_PER_COMMIT", 1)
    with pytest.raises(KeyboardInterrupt):
        document_library(DOCUMENTS, tmp_path / "index", "whole", report=stop)
    with document_library(DOCUMENTS, tmp_path / "index", "whole") as library:
        assert list(library.snapshot.files()) == ["2", "3", "a b%c"]


@pytest.mark.parametrize("other", [DOCUMENTS[:2], [DOCUMENTS[1], DOCUMENTS[0], DOCUMENTS[2]]])
def test_an_index_of_other_documents_is_refused(tmp_path: Path, other: list) -> None:
    document_library(DOCUMENTS, tmp_path / "index").close()
    with pytest.raises(ValueError, match="is the index of other documents"):
        document_library(other, tmp_path / "index")


def test_an_index_with_other_passages_is_refused(tmp_path: Path) -> None:
    document_library(DOCUMENTS, tmp_path / "index").close()
    with pytest.raises(ValueError, match="or of other passages"):
        document_library(DOCUMENTS, tmp_path / "index", "whole")


def test_an_unknown_way_to_cut_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="passages must be one of split, whole, not 'half'"):
        document_library(DOCUMENTS, tmp_path / "index", "half")
