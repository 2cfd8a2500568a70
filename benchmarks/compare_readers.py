"""Answers of spanwise and of other readers to the same questions on the same passages.

    python -m benchmarks.compare_readers notes --questions questions.jsonl --peer haystack --model FOLDER

haystack    ExtractiveReader with its defaults and `no_answer`
txtai       Questions on the three best passages joined by spaces, as its RAG pipeline does by default

`--model` is a folder or hub name of a transformers question-answering model for the peers. An answer is right
when it, or its sentence, holds a gold answer in a named document; the p-value is of the paired test against
spanwise. Install the peers yourself: pip install haystack-ai txtai accelerate, then 'transformers<5'.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import spanwise
from spanwise.corpora.sentences import sentence_spans
from spanwise.eval.questions import Verdict, judge_answer
from spanwise.eval.significance import compare
from spanwise.reader.spans import enclosing_sentences
from spanwise.types import AnswerSpan, Passage

TXTAI_PASSAGES = 3

Place = tuple[int, int, int] | None
Reader = Callable[[str, Sequence[str]], Place]


def haystack(model: str) -> Reader:
    """Haystack's reader: the number of the passage, start and end of the answer in it, or None."""
    from haystack import Document
    from haystack.components.readers import ExtractiveReader
    from haystack.utils import ComponentDevice

    reader = ExtractiveReader(model=model, device=ComponentDevice.from_str("cpu"), top_k=1, no_answer=True)
    reader.warm_up()

    def answer(question: str, passages: Sequence[str]) -> Place:
        documents = [Document(content=text, meta={"number": i}) for i, text in enumerate(passages) if text]
        answers = reader.run(query=question, documents=documents)["answers"]
        best = max(answers, key=lambda answer: answer.score)
        if best.data is None or best.document is None or best.document_offset is None:
            return None
        offset = best.document_offset
        return int(best.document.meta["number"]), int(offset.start), int(offset.end)

    return answer


def txtai(model: str) -> Reader:
    """txtai's extractive questions; it returns a text without a place, which is looked up."""
    from txtai.pipeline.text.questions import Questions

    reader = Questions(model, gpu=False)

    def answer(question: str, passages: Sequence[str]) -> Place:
        best = passages[:TXTAI_PASSAGES]
        try:
            [text] = reader([question], [" ".join(best)])
        except TypeError:  # the best token is a marker, which has no place in the text
            return None
        for number, passage in enumerate(best):
            if text and text in passage:
                start = passage.find(text)
                return number, start, start + len(text)
        return None

    return answer


PEERS: dict[str, Callable[[str], Reader]] = {"haystack": haystack, "txtai": txtai}


def answer_span(passages: Sequence[Passage], place: Place) -> AnswerSpan | None:
    """The answer with the sentences around it; None for a declined question."""
    if place is None:
        return None
    number, start, end = place
    passage = passages[number]
    around = enclosing_sentences(sentence_spans(passage.text), start, end)
    return AnswerSpan(passage.span(start, end), passage.span(*around), passage, None, 1, 0.0, None)


def main() -> None:
    """Read the arguments, ask, judge, print a Markdown table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--peer", choices=PEERS, action="append", default=[])
    parser.add_argument("--model", default="deepset/minilm-uncased-squad2")
    parser.add_argument("--retriever", default="")
    parser.add_argument("-k", type=int, default=20)
    options = parser.parse_args()
    questions = spanwise.evaluation.read_questions(options.questions)
    peers = {name: PEERS[name](options.model) for name in options.peer}
    verdicts: dict[str, list[Verdict]] = {name: [] for name in ("spanwise", *peers)}
    times: dict[str, list[float]] = {name: [] for name in verdicts}
    search = {"retriever": options.retriever, "k": options.k, "dedupe": False}
    with spanwise.open(options.folder) as library:
        library.sync()
        for question in questions:
            passages = [hit.passage for hit in library.search(question.question, **search)]
            answer = library.ask(question.question, **search)
            verdicts["spanwise"].append(judge_answer(question, answer.best, sentence_spans))
            times["spanwise"].append(sum(answer.timings_ms.values()))
            for name, reader in peers.items():
                began = time.perf_counter()
                place = reader(question.question, [passage.text for passage in passages])
                times[name].append(1000 * (time.perf_counter() - began))
                verdicts[name].append(judge_answer(question, answer_span(passages, place), sentence_spans))
    handled = {
        name: {
            question.id: float(verdict in ("right", "rightly declined"))
            for question, verdict in zip(questions, of_reader, strict=True)
        }
        for name, of_reader in verdicts.items()
    }
    print(f"| reader | {' | '.join(Verdict)} | handled | difference | p | ms |")
    print("|" + "---|" * (len(Verdict) + 5))
    for name, of_reader in verdicts.items():
        counts = Counter(of_reader)
        test = compare(handled["spanwise"], handled[name])
        cells = [str(counts[verdict]) for verdict in Verdict]
        figures = (
            f"{test.system_mean:.3f} | {test.difference:+.3f} | {test.p:.4f} | {median(times[name]):.0f}"
        )
        print(f"| {name} | {' | '.join(cells)} | {figures} |")


if __name__ == "__main__":
    main()
