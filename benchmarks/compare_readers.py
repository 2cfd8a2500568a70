"""The same questions and passages through spanwise and through other readers, judged alike.

    python -m benchmarks.compare_readers notes --questions questions.jsonl --peer haystack --model FOLDER

haystack    ExtractiveReader with its defaults and `no_answer`
txtai       Questions on the three best passages joined by spaces, as its RAG pipeline does by default

`--model` is a folder or hub name of a transformers question-answering model for the peers. An answer is right
when it, or its sentence, holds a gold answer in a named document; the p-value is of the paired test against
spanwise. Install the peers yourself: pip install haystack-ai txtai.
"""

from __future__ import annotations

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
from spanwise.types import AnswerSpan, Passage, Span

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
        found = max(reader.run(query=question, documents=documents)["answers"], key=lambda one: one.score)
        if found.data is None or found.document is None or found.document_offset is None:
            return None
        offset = found.document_offset
        return int(found.document.meta["number"]), int(offset.start), int(offset.end)

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
        places = [(i, one.find(text)) for i, one in enumerate(best) if text and text in one]
        return (*places[0], places[0][1] + len(text)) if places else None

    return answer


PEERS: dict[str, Callable[[str], Reader]] = {"haystack": haystack, "txtai": txtai}


def answer_span(passages: Sequence[Passage], place: Place) -> AnswerSpan | None:
    """The answer with the sentences around it; None for a declined question."""
    if place is None:
        return None
    number, start, end = place
    passage = passages[number]
    around = enclosing_sentences(sentence_spans(passage.text), start, end)
    span, sentence = (
        Span(passage.document_id, passage.start + a, passage.start + b, passage.text[a:b])
        for a, b in ((start, end), around)
    )
    return AnswerSpan(span, sentence, passage, None, 1, 0.0, None)


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
    how = parser.parse_args()
    questions = spanwise.evaluation.read_questions(how.questions)
    peers = {name: PEERS[name](how.model) for name in how.peer}
    verdicts: dict[str, list[Verdict]] = {name: [] for name in ("spanwise", *peers)}
    times: dict[str, list[float]] = {name: [] for name in verdicts}
    with spanwise.open(how.folder) as library:
        library.sync()
        for one in questions:
            options = {"retriever": how.retriever, "k": how.k, "dedupe": False}
            passages = [hit.passage for hit in library.search(one.question, **options)]
            answer = library.ask(one.question, **options)
            verdicts["spanwise"].append(judge_answer(one, answer.best, sentence_spans))
            times["spanwise"].append(sum(answer.timings_ms.values()))
            for name, reader in peers.items():
                began = time.perf_counter()
                place = reader(one.question, [passage.text for passage in passages])
                times[name].append(1000 * (time.perf_counter() - began))
                verdicts[name].append(judge_answer(one, answer_span(passages, place), sentence_spans))
    handled = {
        name: {
            one.id: float(v in ("right", "rightly declined")) for one, v in zip(questions, found, strict=True)
        }
        for name, found in verdicts.items()
    }
    print(f"| reader | {' | '.join(Verdict)} | handled | difference | p | ms |")
    print("|" + "---|" * (len(Verdict) + 5))
    for name, found in verdicts.items():
        counts, test = Counter(found), compare(handled["spanwise"], handled[name])
        cells = [str(counts[verdict]) for verdict in Verdict]
        figures = (
            f"{test.system_mean:.3f} | {test.difference:+.3f} | {test.p:.4f} | {median(times[name]):.0f}"
        )
        print(f"| {name} | {' | '.join(cells)} | {figures} |")


if __name__ == "__main__":
    main()
