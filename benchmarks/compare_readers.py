"""The same questions and passages through spanwise and through other readers, judged alike.

    python scripts/compare_readers.py ask rust-book/src --questions rust-book.jsonl --out book
    python scripts/export_reader.py reader-hf
    python scripts/peer_readers.py haystack book/asked.jsonl --model reader-hf --out book/haystack.jsonl
    python scripts/peer_readers.py txtai book/asked.jsonl --model reader-hf --out book/txtai.jsonl
    python scripts/compare_readers.py judge book --questions rust-book.jsonl

`ask` indexes the folder, writes each question with the passages found (asked.jsonl) and what spanwise
answered from them (spanwise.jsonl). `judge` gives each answer the sentences around it, those of spanwise
being its own, and prints verdicts (`eval.abstention`) with paired randomization tests against spanwise,
Holm-corrected. Peers may run in another environment: the files are all they need.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import spanwise
from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import SpanwiseError
from spanwise.eval.abstention import Verdict, judge
from spanwise.eval.question_set import FolderQuestion, read_question_set
from spanwise.eval.significance.comparison import compare
from spanwise.eval.significance.pairing import Asked, Scored, pair
from spanwise.reader.sentence_answer import enclosing_sentences
from spanwise.types import AnswerSpan, Passage, Span

ASKED, OURS = "asked.jsonl", "spanwise"
HANDLED = (Verdict.RIGHT, Verdict.RIGHTLY_DECLINED)

Lines = Sequence[Mapping[str, Any]]


def ask(folder: Path, questions: Sequence[FolderQuestion], out: Path, retriever: str | None, k: int) -> None:
    """Writes the passages that were found for each question, and what was answered from them."""
    out.mkdir(parents=True, exist_ok=True)
    asked, answered = [], []
    with spanwise.open(folder, out / "index") as library:
        library.sync()
        asker = library.answerer(retriever=retriever or "", k=k, dedupe=False)
        for one in questions:
            [traced] = asker.trace([one.question])
            answer, passages = traced.answer, [hit.passage for hit in traced.hits]
            asked.append({"id": one.id, "question": one.question, "passages": [*map(_passage, passages)]})
            answered.append({"id": one.id, "span": None, "ms": sum(answer.timings_ms.values())})
            if answer.best is not None:
                best = answer.best
                number = [passage.id for passage in passages].index(best.passage.id)
                for name, span in (("span", best.span), ("sentence", best.sentence)):
                    at = best.passage.start
                    answered[-1][name] = [number, span.start - at, span.end - at]
    _write(out / ASKED, asked)
    _write(out / f"{OURS}.jsonl", answered)


def answer_span(passages: Lines, answer: Mapping[str, Any]) -> AnswerSpan | None:
    """The answer as the judge wants it; None for a declined question."""
    if answer["span"] is None:
        return None
    number, start, end = answer["span"]
    shown = passages[number]
    passage = Passage(
        0, shown["document"], shown["start"], shown["start"] + len(shown["text"]), shown["text"]
    )
    _, *around = answer.get("sentence") or (
        number,
        *enclosing_sentences(sentence_spans(passage.text), start, end),
    )
    span, sentence = (_span(passage, *place) for place in ((start, end), around))
    return AnswerSpan(span, span, sentence, passage, None, 1, 0.0, None)


def verdicts(questions: Sequence[FolderQuestion], asked: Lines, answers: Lines) -> dict[str, Verdict]:
    """The verdict on each question by its id; ValueError when one was not asked or not answered."""
    passages = {one["id"]: one["passages"] for one in asked}
    given = {one["id"]: one for one in answers}
    if missing := [one.id for one in questions if one.id not in passages or one.id not in given]:
        raise ValueError(f"question {missing[0]!r} has no answer ({len(missing)} such): ask again")
    return {one.id: judge(one, answer_span(passages[one.id], given[one.id])) for one in questions}


def table(questions: Sequence[FolderQuestion], found: Mapping[str, Mapping[str, Verdict]]) -> Iterable[str]:
    """Lines of Markdown: verdicts by reader, and how each differs from the first."""
    yield f"| reader | {' | '.join(Verdict)} | handled | against {next(iter(found))} | p |"
    yield "|" + "---|" * (len(Verdict) + 4)
    scored = {
        name: Scored(
            name, {"handled": {qid: float(v in HANDLED) for qid, v in by_id.items()}}, _asked(questions)
        )
        for name, by_id in found.items()
    }
    first, *others = scored.values()
    tests = {
        one.pair.system.system: one for one in compare([(pair(first, other), "handled") for other in others])
    }
    for name, by_id in found.items():
        counts = Counter(by_id.values())
        handled = sum(counts[verdict] for verdict in HANDLED)
        test = tests.get(name)
        difference = f"{test.difference:+.3f} | {test.p_holm:.4f}" if test else " | "
        cells = [str(counts[verdict]) for verdict in Verdict]
        yield f"| {name} | {' | '.join(cells)} | {handled} of {len(by_id)} | {difference} |"


def _asked(questions: Sequence[FolderQuestion]) -> dict[str, Asked]:
    return {one.id: Asked(one.question) for one in questions}


def _span(passage: Passage, start: int, end: int) -> Span:
    return Span(passage.document_id, passage.start + start, passage.start + end, passage.text[start:end])


def _passage(passage: Passage) -> dict[str, Any]:
    return {"document": passage.document_id, "start": passage.start, "text": passage.text}


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def main() -> None:
    """Reads the arguments and asks or judges."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("ask", "judge"))
    parser.add_argument("folder", type=Path, help="the documents; for judge, the --out of ask")
    parser.add_argument("--questions", type=Path, required=True, action="append", help="JSON lines")
    parser.add_argument("--out", type=Path, help="for ask: where the files go")
    parser.add_argument("--retriever", help="for ask: what finds the passages")
    parser.add_argument("-k", type=int, default=20, help="for ask: how many passages are read")
    arguments = parser.parse_args()
    try:
        questions = [one for path in arguments.questions for one in read_question_set(path)]
        if arguments.what == "ask":
            ask(arguments.folder, questions, arguments.out or Path("asked"), arguments.retriever, arguments.k)
            return
        asked, files = _read(arguments.folder / ASKED), sorted(arguments.folder.glob("*.jsonl"))
        names = sorted(
            (path.stem for path in files if path.name != ASKED), key=lambda name: (name != OURS, name)
        )
        answers = {name: _read(arguments.folder / f"{name}.jsonl") for name in names}
        found = {name: verdicts(questions, asked, lines) for name, lines in answers.items()}
        print("\n".join(table(questions, found)))
        for name, lines in answers.items():
            print(f"\n{name}: {median(one['ms'] for one in lines):.0f} ms a question, the median")
    except (SpanwiseError, ValueError, OSError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
