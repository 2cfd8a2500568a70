"""An answer on the screen and as JSON: its span inside its sentence, and where else the same is said."""

from __future__ import annotations

import json

from scripted_reader import asker

from spanwise.pipelines.cli.ask import show_answer
from spanwise.pipelines.records import answer_record
from spanwise.types import Answer

SCRIPT = (("Ada Rook", 9.0, 2.0), ("stones", 8.0, 2.0))


def ask(library, folder, question: str, n_copies: int) -> Answer:
    for number in range(n_copies):
        said = (
            f"Guide {number * 'more '}tells that the mill is the work of Ada Rook and of {number + 3} men.\n"
        )
        (folder / f"guide{number}.txt").write_text(said, encoding="utf-8")
    library.sync(vectors=False)
    [answer] = asker(library, *SCRIPT).answer([question])
    return answer


def test_the_places_that_agree_are_named_and_counted(library, folder, capsys):
    answer = ask(library, folder, "Who built the mill with stones?", 5)
    show_answer(answer)
    [line] = [line for line in capsys.readouterr().out.splitlines() if "also said in" in line]
    assert line.count("line ") == 3
    assert line.endswith(", and 2 more")
    record = json.loads(json.dumps(answer_record(answer)))["answer"]
    assert len(record["agreeing"]) == 5
    for other in record["agreeing"]:
        text = library.document(other["document"]).text
        assert text[other["start"] : other["end"]] == other["text"] == "Ada Rook"


def test_without_agreement_nothing_is_said_of_it(library, folder, capsys):
    show_answer(ask(library, folder, "Who built the mill with stones?", 0))
    assert "also said" not in capsys.readouterr().out


def test_a_sentence_has_the_readers_span_as_its_own_value(library, folder, capsys):
    answer = ask(library, folder, "Was the mill built by Ada Rook?", 0)
    show_answer(answer)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == answer.text == "The mill was built in 1811 by Ada Rook."
    short = answer_record(answer)["answer"]["short"]
    assert (short["text"], short["document"]) == ("Ada Rook", "mill.md")
