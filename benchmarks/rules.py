"""What each family of rules is worth: it is left out, and questions that it was not written after are asked.

    python -m benchmarks.rules --choose CHOOSE --data $SPANWISE_DATA --work WORK --half a

The sets are those of `eval/questions/unseen` (lists of documents, amounts, yes-no questions, tables,
conversations; halves b, d, e and f are for the end), every Nth question of the folders in CHOOSE, and
questions that some rules were written after: WikiTableQuestions and `eval/questions/mentions.jsonl`. `fast`
answers, with the shipped calibration.

A family is a table of `pipelines/understanding/patterns.toml`, or a rule of the code that `PATCHES` names.
Each runs in a process of its own, without its entries. For each set: how many questions turn right, and how
many no longer are, by the family; false answers that it prevents or makes count likewise.
"""

import argparse
import json
import math
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.tables import is_right, is_same
from spanwise.pipelines.understanding import patterns

UNSEEN = Path("eval/questions/unseen")
READER = "fast"
TABLES = ("tables", "wtq", "choose")
TALK = ("conversations",)
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "documents": ("lists", "others", "mentions"),
    "computing": TABLES,
    "ordering": TABLES,
    "conditions": TABLES,
    "cells_of_yes": TABLES,
    "negation": (*TABLES, "lists", "others"),
    "columns": TABLES,
    "asked_column": TABLES,
    "turns.light": TALK,
    "forms of turns": TALK,
    "tables": TABLES,
    "follow-ups": TALK,
    "words of the conversation": TALK,
    "recent question": TALK,
    "spelling": ("choose", "amounts", "yes-no"),
    "section": ("choose",),
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    "computing": ("counts", "sums", "means", "differences"),
    "ordering": ("superlatives", "ends", "neighbours"),
    "conditions": ("limits",),
    "forms of turns": ("following", "fragments"),
}
Verdicts = dict[str, str]
"""right, wrong, declined, false or quiet (rightly declined) by the id of a question."""


def without_tables() -> None:
    """Nothing is looked up."""
    from spanwise.pipelines.answering import table_answers

    table_answers.TableFinder.near = lambda self, hits: iter(())  # type: ignore[method-assign]


def without_added_words() -> None:
    """A question that a conversation changes needs no more than any other one."""
    from spanwise.pipelines.answering import ask

    ask.ADDED_MARGIN = 0.0


def without_follow_ups() -> None:
    """A question is taken as it is typed; rankings still depend on the question before."""
    from spanwise.pipelines.answering import conversation

    conversation.Context.understood = lambda self, question: question  # type: ignore[method-assign]


def without_recent_question() -> None:
    """Rankings do not depend on the question before."""
    from spanwise.pipelines.answering import conversation

    conversation.Context.retriever = lambda self, retriever: retriever  # type: ignore[method-assign]


def without_spelling() -> None:
    """No word is corrected."""
    from spanwise.pipelines.understanding import spelling

    spelling._is_misspelled = lambda question, token, analyzer: False


def without_lists() -> None:
    """No question is one for a list of documents."""
    from spanwise.pipelines.understanding import list_questions

    list_questions.MIN_LOGIT = math.inf


def without_section() -> None:
    """A declined question shows no section."""
    from spanwise.pipelines.answering import ask

    ask.topic_section = lambda terms, hits, document_of, analyzer: None


PATCHES: Mapping[str, Callable[[], None]] = {
    "documents": without_lists,
    "tables": without_tables,
    "words of the conversation": without_added_words,
    "follow-ups": without_follow_ups,
    "recent question": without_recent_question,
    "spelling": without_spelling,
    "section": without_section,
}


def leave_out(family: str) -> None:
    """Drop the entries of a family, or patch its rule, before anything reads them."""
    if patch := PATCHES.get(family):
        patch()
        return
    entries = patterns.entries()
    for part in GROUPS.get(family, (family,)):
        for name in [name for name in entries if name == part or name.startswith(f"{part}.")]:
            del entries[name]


# Sets


def verdict_of(is_answerable: bool, is_answered: bool, is_right_answer: bool) -> str:
    """One word for what happened to a question."""
    if not is_answered:
        return "declined" if is_answerable else "quiet"
    return ("right" if is_right_answer else "wrong") if is_answerable else "false"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Asked:
    """The sets of questions, each asked once; indexes are kept in `work`."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.work: Path = options.work
        self.halves = [UNSEEN / half for half in options.half]
        self._libraries: dict[str, Any] = {}
        self._models: dict[tuple[str, str], Any] = {}

    def library(self, folder: Path, name: str, vectors: bool = True) -> Any:
        """The synced library of a folder, opened once."""
        import spanwise

        if name not in self._libraries:
            library = spanwise.open(folder, self.work / f"index-{name}", cache=False)
            library.sync(vectors=vectors)
            library._models._loaded = self._models  # each model is loaded once
            self._libraries[name] = library
        return self._libraries[name]

    def unseen(self, name: str) -> list[dict[str, Any]]:
        """The rows of a set in the halves that are asked."""
        paths = [half / f"{name}.jsonl" for half in self.halves]
        return [row for path in paths if path.is_file() for row in rows_of(path)]

    def folder(self, name: str) -> Path:
        """The folder of a set, unpacked from the archives if it is one of these."""
        if (UNSEEN / "folders" / name).is_dir():
            return UNSEEN / "folders" / name
        target: Path = self.work / "docs" / name
        if not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(self.options.data / "docs" / f"{name}.tar.xz") as archive:
                archive.extractall(target.parent, filter="data")
        return target

    def lists(self) -> Iterator[tuple[str, str]]:
        """A list is right if it has exactly the documents that mention the words."""
        for row in self.unseen("lists"):
            listed = self.listed(row)
            is_all = listed == set(row["documents"])
            yield row["id"], verdict_of(True, listed is not None, is_all)

    def others(self) -> Iterator[tuple[str, str]]:
        """Questions that ask for no list."""
        for row in self.unseen("lists-others"):
            yield row["id"], verdict_of(False, self.listed(row) is not None, False)

    def mentions(self) -> Iterator[tuple[str, str]]:
        """The lists that the rules were written after."""
        for row in rows_of(Path("eval/questions/mentions.jsonl")):
            listed = self.listed(row)
            yield row["id"], verdict_of(True, listed is not None, listed == set(row["documents"]))

    def listed(self, row: Mapping[str, Any]) -> set[str] | None:
        """The documents of an answer that is a list of documents; None for any other answer."""
        from spanwise.pipelines.answering.mentions import mentions
        from spanwise.pipelines.understanding.question import Question

        subfolder = {"rust-rfcs": "text", "eips": "EIPS", "cooking": "content"}.get(row["folder"], "")
        library = self.library(self.folder(row["folder"]) / subfolder, row["folder"], vectors=False)
        with library.reading() as snapshot:
            question = Question.of(row["question"], snapshot, library.analyzer)
            if not question.listed_words:
                return None
            answer = mentions(question, snapshot, library.analyzer, None)
        return {each.document_id for each in answer.computed.documents} if answer.computed else None

    def about_folder(self, folder: Path, name: str, questions: list[Path]) -> Iterator[tuple[str, str]]:
        """Questions about a folder, judged as `eval folder` does."""
        from spanwise.pipelines.evaluation.corpus import read_questions
        from spanwise.pipelines.evaluation.folder import evaluate_folder
        from spanwise.types import AskOptions

        asked = [question for path in questions for question in read_questions(path)]
        _, records = evaluate_folder(self.library(folder, name), asked, options=AskOptions(reader=READER))
        for record in records:
            right = record["verdict"] == "right"
            yield record["id"], verdict_of(record["answerable"], record["answer"] is not None, right)

    def amounts(self) -> Iterator[tuple[str, str]]:
        """Quantities, rates and the things that have them."""
        yield from self.about_folder(
            self.folder("amounts"), "amounts", [half / "amounts.jsonl" for half in self.halves]
        )

    def yes_no(self) -> Iterator[tuple[str, str]]:
        """A yes-no question is right with the right words and the right verdict, or none."""
        yield from self.about_folder(
            self.folder("rules"), "rules", [half / "yes-no.jsonl" for half in self.halves]
        )

    def tables(self) -> Iterator[tuple[str, str]]:
        """Questions about a folder with one table."""
        for row in self.unseen("tables"):
            library = self.library(self.folder("tables") / row["folder"], f"table-{row['folder']}")
            answer = library.ask(row["question"], reader=READER)
            said = [answer.text, *answer.values] if answer.text else list(answer.values)
            is_right_value = any(is_same(text, gold) for text in said for gold in row["answers"])
            yield row["id"], verdict_of(row["answerable"], bool(said), is_right_value)

    def wtq(self) -> Iterator[tuple[str, str]]:
        """Every Nth question of WikiTableQuestions, each table a folder."""
        source = self.options.data / "wtq"
        target = self.work / "wtq"
        if not target.is_dir():
            with tarfile.open(source / "tables.tar.xz") as archive:
                archive.extractall(target, filter="data")
        for row in rows_of(source / "questions.jsonl")[:: self.options.every]:
            name = row["table"].replace("/", "-")
            folder = target / "folders" / name
            if not folder.is_dir():
                folder.mkdir(parents=True)
                table = next(target.rglob(row["table"]))
                (folder / table.name).write_bytes(table.read_bytes())
            library = self.library(folder, f"wtq-{name}", vectors=False)
            values = library.ask(row["question"], retriever="bm25", reader=READER).values
            yield row["id"], verdict_of(True, bool(values), is_right(values, row["answers"]))

    def conversations(self) -> Iterator[tuple[str, str]]:
        """Each turn after the ones before and their sentences, none declined."""
        from spanwise.corpora.sentences import sentence_spans
        from spanwise.eval.questions import FolderQuestion, is_right_shown

        library = self.library(self.folder("talk"), "talk")
        for row in self.unseen("conversations"):
            history: list[dict[str, str]] = []
            for turn in row["turns"]:
                gold = FolderQuestion(
                    f"{row['id']}-{turn['turn']}",
                    turn["question"],
                    "factoid",
                    tuple(turn["answers"]),
                    tuple(turn["documents"]),
                    answerable=True,
                )
                answer = library.ask(turn["question"], history=history, reader=READER, threshold=0.0)
                best = answer.best
                is_right_turn = best is not None and is_right_shown(
                    gold, best.span, best.passage, sentence_spans
                )
                yield gold.id, verdict_of(True, best is not None or bool(answer.computed), is_right_turn)
                history.append({"role": "user", "content": turn["question"]})
                history.append({"role": "assistant", "content": turn["sentence"]})

    def choose(self) -> Iterator[tuple[str, str]]:
        """Every Nth question of the choose folders, with recorded hits and readings."""
        from spanwise.eval.questions import Verdict
        from spanwise.pipelines.evaluation.asked_folders import asked_folders
        from spanwise.pipelines.evaluation.folder import verdict_of as judged
        from spanwise.reader.load import load_calibration
        from spanwise.types import AskOptions

        options = AskOptions(retriever="colbert", reader=READER)
        words = {
            Verdict.RIGHT: "right",
            Verdict.WRONG: "wrong",
            Verdict.WRONGLY_DECLINED: "declined",
            Verdict.RIGHTLY_DECLINED: "quiet",
            Verdict.FALSE_ANSWER: "false",
        }
        run = self.options.recorded or self.work
        with asked_folders(self.options.choose, run, options, self.options.every) as asked:
            for folder in asked:
                folder.record()
                calibration = load_calibration(READER, folder.answerer.reader.digest)
                for record in folder.decided(calibration, None):
                    shown = record.scores.get("right_shown")
                    yield f"{folder.domain}-{record.id}", words[judged(record)]
                    if shown is not None and not record.prediction:
                        yield f"{folder.domain}-{record.id}-near", "right" if shown else "declined"

    def verdicts(self, name: str) -> Verdicts:
        """The verdicts of a set."""
        return dict(getattr(self, name.replace("-", "_"))())


def turned(before: Verdicts, after: Verdicts) -> dict[str, int]:
    """How many verdicts a family changes: `before` is with it, `after` without.

    >>> turned({"a": "right", "b": "quiet", "c": "wrong"}, {"a": "declined", "b": "false", "c": "right"})
    {'turns right': 1, 'no longer right': 1, 'false prevented': 1, 'false made': 0}
    """
    names = before.keys() & after.keys()
    counts = Counter((before[name], after[name]) for name in names if before[name] != after[name])
    return {
        "turns right": sum(n for (with_it, _), n in counts.items() if with_it == "right"),
        "no longer right": sum(n for (_, without), n in counts.items() if without == "right"),
        "false prevented": sum(n for (_, without), n in counts.items() if without in ("false", "wrong"))
        - sum(n for (with_it, without), n in counts.items() if with_it == "wrong" and without == "false"),
        "false made": sum(n for (with_it, _), n in counts.items() if with_it in ("false", "wrong")),
    }


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--choose", type=Path, required=True, help="folders with questions")
    parser.add_argument("--data", type=Path, required=True, help="the folder with docs and wtq")
    parser.add_argument("--work", type=Path, required=True, help="indexes and verdicts")
    parser.add_argument("--recorded", type=Path, help="run/calibration of the reader that is asked")
    parser.add_argument("--half", action="append", choices=list("abcdefi"), default=[], help="repeatable")
    parser.add_argument("--every", type=int, default=8, help="every Nth question of the large sets")
    parser.add_argument("--family", action="append", default=[], help="only these; repeatable")
    parser.add_argument("--ask", help=argparse.SUPPRESS)  # the family that this process leaves out
    parser.add_argument("--set", action="append", default=[], help="only these sets; repeatable")
    return parser.parse_args()


def main() -> None:
    """Print a line of JSON for each family."""
    options = parsed()
    options.half = options.half or ["a"]
    if options.ask is not None:
        leave_out(options.ask)
        asked = Asked(options)
        print(json.dumps({name: asked.verdicts(name) for name in options.set}))
        return
    families = options.family or list(FAMILIES)
    sets = {
        family: [s for s in FAMILIES[family] if not options.set or s in options.set] for family in families
    }
    whole = run("none", sorted({name for names in sets.values() for name in names}))
    print(
        json.dumps({"all rules": {name: dict(Counter(v.values())) for name, v in whole.items()}}), flush=True
    )
    for family, names in sets.items():
        without = run(family, names)
        print(json.dumps({family: {name: turned(whole[name], without[name]) for name in names}}), flush=True)


def run(family: str, sets: list[str]) -> dict[str, Verdicts]:
    """The verdicts of a process that leaves out a family."""
    command = [sys.executable, "-m", "benchmarks.rules", *sys.argv[1:], "--ask", family]
    for name in sets:
        command += ["--set", name]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(output.splitlines()[-1]))


if __name__ == "__main__":
    main()
