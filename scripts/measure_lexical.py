"""Measures lexical search, alone or beside another checkout of this repository.

    python scripts/measure_lexical.py $SPANWISE_DATA/squad/*-v1.1.json.gz --before ../an-older-checkout

The paragraphs of these SQuAD-format files are indexed once, and some of their questions asked. Both checkouts
work in turns, each in a process of its own, on one thread; times are those that the processor worked, which
other programs disturb least: the median over the rounds, in ms a question. The first round, which warms what
is held in memory, is shown apart. "same" says whether both gave the same hits, with the same bits in every
score. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from spanwise.corpora.squad import Article, read_squad
from spanwise.index.postings_index import PostingsIndex
from spanwise.pipelines.evaluation.document_ranking import rank_documents
from spanwise.pipelines.opening import open_index
from spanwise.pipelines.paragraph_index import contexts_of, paragraph_library
from spanwise.retrieval.bm25 import BM25

Work = Callable[[str], Any]
CHILD = "--child"


def works(index: Path) -> dict[str, Work]:
    """What is measured: each takes a question."""
    library = open_index(index)
    snapshot, analyzer = library.snapshot, library.analyzer
    kernel = PostingsIndex(snapshot.postings(), BM25(), snapshot.places)
    bm25, tfidf, fused = (library.retriever(name) for name in ("bm25", "tfidf", "bm25+tfidf"))
    grouped = library.grouping(bm25)
    return {
        "bm25, ids alone, k = 10": lambda q: kernel.search([analyzer.question_terms(q)], 10),
        "bm25, ids alone, k = 100": lambda q: kernel.search([analyzer.question_terms(q)], 100),
        "bm25, k = 10": lambda q: bm25.search([q], 10),
        "bm25, k = 100": lambda q: bm25.search([q], 100),
        "bm25, near-duplicates folded, k = 10": lambda q: grouped.search([q], 10),
        "tfidf, k = 10": lambda q: tfidf.search([q], 10),
        "bm25+tfidf, k = 10": lambda q: fused.search([q], 10),
        "bm25, 100 documents": lambda q: rank_documents(bm25, q, 100),
    }


def child(index: Path, questions: Sequence[str]) -> None:
    """Does each work when its name comes in a line, and answers with milliseconds and a digest of results."""
    known = works(index)
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        work, began = known[json.loads(line)], time.process_time()
        results = [work(question) for question in questions]
        spent = time.process_time() - began
        digest = hashlib.sha256(repr(exact(results)).encode()).hexdigest()
        print(json.dumps([spent * 1000 / len(questions), digest]), flush=True)


def exact(result: Any) -> Any:
    """Arrays as lists, whose numbers are written in full."""
    if isinstance(result, list):
        return [exact(one) for one in result]
    if hasattr(result, "passage_ids"):
        return result.passage_ids.tolist(), result.scores.tolist()
    return result


class Checkout:
    """A child process that runs the code of one checkout."""

    def __init__(self, root: Path, index: Path, questions: Sequence[str]) -> None:
        environment = os.environ | {"PYTHONPATH": str(root.resolve()), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__).resolve()), CHILD, str(index)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, text=True, env=environment, cwd=root, **pipes)
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._tell(list(questions))
        self.names: list[str] = self._answer()

    def ask(self, name: str) -> tuple[float, str]:
        """Milliseconds a question, and the digest of what was found."""
        self._tell(name)
        spent, found = self._answer()
        return spent, found

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=60)

    def _tell(self, what: Any) -> None:
        self._stdin.write(json.dumps(what) + "\n")
        self._stdin.flush()

    def _answer(self) -> Any:
        line = self._stdout.readline()
        if not line:
            sys.exit(f"the process of a checkout ended: {self._process.args}")
        return json.loads(line)


def compare(checkouts: Sequence[Checkout], rounds: int) -> None:
    """Prints a row for each work, as soon as it is measured."""
    head = ["first", "later"] if len(checkouts) == 1 else ["before: first", "later", "now: first", "later"]
    print("| ms a question |", *(f"{name} |" for name in [*head, *["ratio", "same"] * (len(checkouts) - 1)]))
    print("| --- |", *["---: |"] * (len(head) + 2 * (len(checkouts) - 1)))
    for name in checkouts[0].names:
        asked = [[one.ask(name) for one in checkouts] for _ in range(rounds)]
        columns = list(zip(*asked, strict=True))
        later = [median(spent for spent, _ in column[1:]) for column in columns]
        cells = [f"{x:.3f}" for column, one in zip(columns, later, strict=True) for x in (column[0][0], one)]
        if len(later) > 1:
            digests = {found for column in columns for _, found in column}
            cells += [f"{later[0] / later[1]:.1f}", "yes" if len(digests) == 1 else "no"]
        print(f"| {name} |", *(f"{cell} |" for cell in cells), flush=True)


def sample(articles: Sequence[Article], n: int) -> list[str]:
    """Questions of a data set, always the same."""
    questions = [q.text for article in articles for part in article.paragraphs for q in part.questions]
    return random.Random(0).sample(questions, min(n, len(questions)))


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="in the format of SQuAD")
    parser.add_argument("--before", type=Path, help="the root of another checkout")
    parser.add_argument("--n", type=int, default=200, help="how many questions (default 200)")
    parser.add_argument("--rounds", type=int, default=6, help="of which the first warms (default 6)")
    return parser.parse_args()


def main() -> None:
    """Reads the arguments, measures, prints."""
    if sys.argv[1:2] == [CHILD]:
        return child(Path(sys.argv[2]), json.loads(sys.stdin.readline()))
    given = parsed()
    articles = [article for path in given.files for article in read_squad(path).articles]
    here = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        paragraph_library((("", context) for context in contexts_of(articles)), index).close()
        roots = [here] if given.before is None else [given.before, here]
        checkouts = [Checkout(root, index, sample(articles, given.n)) for root in roots]
        compare(checkouts, given.rounds)
        for checkout in checkouts:
            checkout.close()


if __name__ == "__main__":
    main()
