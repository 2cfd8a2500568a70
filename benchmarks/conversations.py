"""How well follow-up questions are understood: MTRAG, whose conversations people wrote.

All passages of `un-a` are in one index. Recall@5 is the share of a turn's passages among the first five
documents, averaged over the answerable turns. In `rewrites-a` people wrote each question so that it stands
alone. A turn with a history is unchanged if its rewrite adds no content word of earlier turns. Of these, the
share that is left alone is measured; of the others, the share that is changed, and the share of the added
earlier words that we add; of all, how many words we add that the rewrite does not have.

Rules were chosen on the even half, by the first six digits of a conversation's id. The weights of recent
questions and of earlier subjects were chosen with a look at both halves.
Source: Katsis et al., "MTRAG: A Multi-Turn Conversational Benchmark", 2025.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import spanwise
from spanwise.pipelines.answering.conversation import context_of
from spanwise.pipelines.understanding.spelling import FUNCTION_WORDS

K = 5
JOINED = {"last turn": 1, "two turns joined": 2, "all turns joined": 0, "history": 1}  # 0: all
DEPTH = 20  # passages that are searched for K documents
HALVES = {"even": (0,), "odd": (1,), "both": (0, 1)}
Row = dict[str, Any]


def rows_of(path: Path, half: str) -> Iterator[Row]:
    """The lines of a file whose conversation is in this half."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        number = str(row.get("conversation_id") or row["id"])[:6]
        if int(number, 16) % 2 in HALVES[half]:
            yield row


def history_of(texts: Iterable[str]) -> list[dict[str, str]]:
    """Questions as the turns of a conversation."""
    return [{"role": "user", "content": text} for text in texts]


def write_passages(path: Path, folder: Path) -> None:
    """Write each passage of `un-a` to a file, below its title."""
    for row in rows_of(path, "both"):
        for passage in row["contexts"]:
            title = passage.get("title") or ""
            text = f"{title}\n\n{passage['text'].strip().removeprefix(title)}".strip()
            (folder / f"{passage['document_id']}.txt").write_text(text, encoding="utf-8")


def recalls(library: spanwise.Library, rows: Iterable[Row]) -> dict[str, float]:
    """Recall@5 of the last turn alone, with earlier ones joined to it, and with a history."""
    figures: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        relevant = {f"{passage['document_id']}.txt" for passage in row["contexts"]}
        texts = [turn["text"] for turn in row["input"] if turn["speaker"] == "user"]
        for name, n_joined in JOINED.items():
            earlier = texts[:-1] if name == "history" else []
            question = " ".join(texts[-n_joined:])
            hits = library.search(question, k=DEPTH, history=history_of(earlier))
            documents = list(dict.fromkeys(hit.passage.document_id for hit in hits))
            figures[name].append(len(relevant.intersection(documents[:K])) / len(relevant))
    return {name: fmean(values) for name, values in figures.items()}


def rewrites(library: spanwise.Library, rows: Iterable[Row]) -> dict[str, float]:
    """The figures of `rewrites-a`: shares, and other words per turn."""
    analyzer = library.analyzer

    def content(text: str) -> set[str]:
        words = [token.word for token in analyzer.tokens(text)]
        return {analyzer.term(word) for word in words if word not in FUNCTION_WORDS and len(word) > 1}

    totals: Counter[str] = Counter()
    for row in rows:
        *earlier, question = row["turns"]
        if not earlier:
            continue
        with library.reading() as snapshot:
            understood = context_of(history_of(earlier), snapshot, analyzer).understood(question)
        ours = content(understood) - content(question)
        to_add = (content(row["rewrite"]) - content(question)) & content(" ".join(earlier))
        kind = "others" if to_add else "unchanged"
        totals[kind] += 1
        totals[f"{kind} changed"] += understood != question
        totals["to add"] += len(to_add)
        totals["added"] += len(to_add & ours)
        totals["other words"] += len(ours - content(row["rewrite"]))
    n_unchanged = totals["unchanged"]
    return {
        "unchanged left alone": 1 - totals["unchanged changed"] / n_unchanged,
        "others changed": totals["others changed"] / totals["others"],
        "earlier words added": totals["added"] / totals["to add"],
        "other words per turn": totals["other words"] / (n_unchanged + totals["others"]),
    }


def main() -> None:
    """Print both groups of figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with mtrag")
    parser.add_argument("--half", choices=HALVES, default="both", help="of the conversations")
    options = parser.parse_args()
    passages = options.data / "mtrag" / "un-a.jsonl"
    questions = options.data / "mtrag" / "rewrites-a.jsonl"
    answerable = [row for row in rows_of(passages, options.half) if row["answerability"] == ["ANSWERABLE"]]
    with TemporaryDirectory() as folder:
        write_passages(passages, Path(folder))
        with spanwise.open(folder, cache=False) as library:
            library.sync()
            figures = {
                "rewrites": rewrites(library, rows_of(questions, options.half)),
                "recall@5": recalls(library, answerable),
            }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
