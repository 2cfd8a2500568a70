"""A document is followed to the stage that lost it: a planted cause for each."""

from __future__ import annotations

import json
import os

import pytest
from scripted_reader import by_margin, read_by

from spanwise.errors import DocumentNotFound, FilterUnknown
from spanwise.pipelines.why_not.record import why_not_record
from spanwise.types import Filter

MILL = "Who built the mill?"
BOTH = "Who opened or built mill and tram?"
SCRIPT = (("Ada Rook", 9.0, 2.0), ("Ute Falk", 8.0, 2.0))


@pytest.fixture
def ask(library, monkeypatch):
    """Why not this document, with a scripted reader?"""

    def why(document, question=MILL, script=SCRIPT, calibration=None, **given):
        read_by(library, monkeypatch, *script, calibration=calibration)
        lost = library.why_not(document, question, retriever="bm25", **given)
        assert json.loads(json.dumps(why_not_record(lost)))["stage"] == lost.stage
        return lost

    return why


def test_it_lies_outside(ask, tmp_path):
    (tmp_path / "other.md").write_text("words")
    lost = ask(str(tmp_path / "other.md"))
    assert (lost.stage, "none of the indexed folders" in lost.reason) == ("outside", True)
    assert (lost.ranks, lost.answer) == ((), None)


def test_it_is_ignored_by_a_rule(ask, folder):
    (folder / ".spanwiseignore").write_text("*.log\n")
    (folder / "old.log").write_text("words")
    lost = ask("old.log")
    assert (lost.stage, lost.reason) == (
        "ignored",
        "old.log is ignored by the rule '*.log' in .spanwiseignore",
    )


def test_it_was_refused(ask, library, folder):
    (folder / "void.txt").write_text("")
    library.sync(vectors=False)
    lost = ask("void.txt")
    assert (lost.stage, lost.reason) == ("refused", "it was found and rejected: empty file")


def test_it_is_pending(ask, library, folder):
    (folder / "new.txt").write_text("words")
    lost = ask(str(folder / "new.txt"))
    assert (lost.stage, library.sync_command in lost.advice) == ("pending", True)


def test_an_unknown_name_is_an_error_with_the_nearest(ask):
    with pytest.raises(DocumentNotFound, match=r"the nearest are mill\.md"):
        ask("mil.md")


def test_a_filter_leaves_it_out_by_the_conditions_named(ask):
    lost = ask("mill.md", where=Filter(paths=("*.md",), types=("html", "txt"), after="2001-01-01"))
    assert (lost.stage, lost.reason) == ("filtered", "the filter leaves it out: type html, txt")


def test_a_filter_that_knows_no_such_type_is_an_error(ask):
    with pytest.raises(FilterUnknown):
        ask("mill.md", where=Filter(types=("pdf",)))


def test_it_ranks_too_low_and_the_depth_that_reads_it_is_told(ask):
    lost = ask("tram.txt", "mill, mill, mill and tram", k=1)
    assert (lost.stage, lost.read) == ("unretrieved", None)
    rank = lost.ranks[-1].rank
    assert lost.advice == f"read that far with: -k {rank}"
    assert ask("tram.txt", "mill, mill, mill and tram", k=rank).read == rank


def test_it_shares_no_word_with_the_question(ask):
    lost = ask("sub/weir.html")
    assert (lost.stage, lost.lacks) == ("unretrieved", ("built", "mill"))
    assert [(rank.stage, rank.rank, rank.score) for rank in lost.ranks] == [("bm25", None, None)] * 2


def test_it_repeats_a_better_one(ask, library, folder):
    words = "The brass bell of the harbour is rung at noon by the oldest pilot who is awake. " * 3
    for name in ("bell.txt", "copy.txt"):
        (folder / name).write_text(words)
    library.sync(vectors=False)
    lost = ask("copy.txt", "Who rings the brass bell?")
    assert (lost.stage, lost.advice) == ("duplicate", "read each with: --no-group")
    assert "bell.txt at rank 1" in lost.reason


def test_it_was_read_in_vain(ask):
    lost = ask("sub/weir.html", "When was the weir raised?")
    assert (lost.stage, lost.read, lost.own) == ("unread", 1, None)


def test_another_has_more_evidence(ask):
    lost = ask("tram.txt", BOTH, alternatives=0)
    assert (lost.stage, lost.own.span.text, lost.winner.span.text) == ("outscored", "Ute Falk", "Ada Rook")
    assert (lost.own.evidence, lost.winner.evidence) == (6.0, 7.0)
    assert "candidate 2 of 2; mill.md has more evidence" in lost.reason


def test_the_evidence_is_the_sum_of_its_features(ask):
    own = ask("tram.txt", BOTH, calibration=by_margin(0.1)).own
    assert sum(one.contribution for one in own.contributions) == pytest.approx(own.evidence)
    assert own.confidence == pytest.approx(by_margin(0.1).confidence(own.evidence))


def test_it_came_nearest_and_was_declined(ask):
    lost = ask("mill.md", script=[("Ada Rook", 0.1, 0.0)], calibration=by_margin(0.6))
    assert (lost.stage, lost.advice) == ("declined", "show it with: --threshold 0.5250")
    assert "confidence 52% is below the threshold 60%" in lost.reason


def test_it_is_another_answer_or_the_answer(ask):
    assert [ask(name, BOTH).stage for name in ("tram.txt", "mill.md")] == ["alternative", "answer"]


def test_sought_words_that_were_read_and_proposed(ask):
    (place,) = ask("mill.md", words="ada  ROOK").sought
    assert (place.span.text, len(place.passages), place.cut) == ("Ada Rook", 1, ())
    assert (place.rank, place.proposed.span.text) == (1, "Ada Rook")


def test_sought_words_that_nothing_was_proposed_for(ask):
    (place,) = ask("mill.md", words="1811").sought
    assert (place.rank, place.proposed) == (1, None)


def test_sought_words_that_are_not_there(ask):
    lost = ask("mill.md", words="Ute Falk")
    assert (lost.sought, lost.remarks) == ((), ("the words 'Ute Falk' do not stand in it",))


def test_a_file_that_changed_or_went_is_remarked(ask, folder):
    os.utime(folder / "mill.md", (1, 1))
    assert "has changed since it was indexed" in ask("mill.md").remarks[0]
    (folder / "mill.md").unlink()
    assert "is gone" in ask("mill.md").remarks[0]


def test_all_stages_of_a_fusion_are_told(library, monkeypatch, words):
    library.use_colbert("builtin")
    library.sync_tokens()
    read_by(library, monkeypatch, *SCRIPT)
    lost = library.why_not("sub/weir.html", MILL, retriever="bm25+colbert", k=1)
    assert [rank.stage for rank in lost.ranks] == ["bm25", "colbert", "bm25+colbert"]
    assert lost.ranks[0].score is None
    assert lost.ranks[1].rank > 1


def test_the_command_line_tells_it(run, folder, encoder_folder, reader_folder):
    run("index", folder, "--model", encoder_folder)
    given = ("--index", folder, "--reader", reader_folder, "--retriever", "bm25")
    code, out, _ = run("why-not", "weir.html", MILL, *given, "--span", "1920")
    assert (code, out.splitlines()[0]) == (0, "sub/weir.html: unretrieved")
    assert "none of which was read" in out
    record = json.loads(run("why-not", "sub/weir.html", MILL, *given, "--json")[1])
    assert (record["stage"], record["lacks"]) == ("unretrieved", ["built", "mill"])
    assert run("why-not", "mil.md", MILL, *given)[::2] == (
        1,
        "spanwise: no document and no file is called 'mil.md'; the nearest are mill.md\n",
    )
