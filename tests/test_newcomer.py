"""The story of one small folder: index it, ask it, change it, ask again. Read this test first."""

from pathlib import Path

import pytest

import spanwise
from spanwise.errors import QuestionEmpty

MILL = "# The mill\n\nThe mill was built in 1811 by Ada Rook. It grinds rye for the villages of the valley.\n"
FERRY = "# The ferry\n\nThe ferry sails every day at noon. A ticket for the ferry costs four crowns.\n"
LIBRARY = "<h1>The library</h1><p>The library is open on Tuesdays and Fridays from ten to six.</p>"


def test_a_folder_answers_questions_and_follows_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "mill.md").write_text(MILL)
    (folder / "ferry.md").write_text(FERRY)
    (folder / "library.html").write_text(LIBRARY)

    with spanwise.open(folder) as library:  # creates notes/.spanwise
        report = library.sync()
        assert report.added == ("ferry.md", "library.html", "mill.md")

        # An answer is a span of a document: it opens at its place.
        answer = library.ask("Who built the mill?")
        assert answer.text == "Ada Rook"
        document = library.document("mill.md")
        assert answer.span.document_id == "mill.md"
        assert document.text[answer.span.start : answer.span.end] == "Ada Rook"

        # A search finds passages, best first.
        hits = library.search("When is the library open?", k=2)
        assert hits[0].passage.document_id == "library.html"
        assert hits[0].rank == 1

        # A question that no document answers is declined.
        declined = library.ask("Why was the mill painted red?")
        assert declined.no_answer

        # An empty question is a mistake of the caller.
        with pytest.raises(QuestionEmpty):
            library.ask("  ")

        # After a change, only the changed file is read again.
        assert library.ask("What does a ticket for the ferry cost?").text == "four crowns"
        (folder / "ferry.md").write_text(FERRY.replace("four", "seven"))
        assert library.sync().updated == ("ferry.md",)
        assert library.ask("What does a ticket for the ferry cost?").text == "seven crowns"

        # The answers of a deleted file disappear.
        (folder / "mill.md").unlink()
        assert library.sync().deleted == ("mill.md",)
        assert library.ask("Who built the mill?").no_answer
