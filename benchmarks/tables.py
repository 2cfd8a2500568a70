"""How often questions about tables are answered right: WikiTableQuestions, asked as a user would.

Each table is a folder with one file, or, with `--one-folder`, all tables are in one folder. Answers are
compared after the normalisation of the data set's authors: case, accents, quotes, notes in brackets; numbers
as numbers. Source: Pasupat and Liang 2015, and their evaluation script.
"""

import argparse
import json
import re
import tarfile
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import spanwise

QUOTES = str.maketrans("‘’´`“”‐‑‒–—−", "''''\"\"------")
NOTE_AT_END = re.compile(r"(?:(?<!^)\[[^\]]*\]|[•♦†‡*#+]|(?<!^) \([^)]*\))+$")


def normalized(text: str) -> str:
    """The text as it is compared.

    >>> normalized("“Mill”  [3]"), normalized("Café (1811).")
    ('mill', 'cafe')
    """
    letters = unicodedata.normalize("NFKD", text)
    words = "".join(c for c in letters if unicodedata.category(c) != "Mn").translate(QUOTES).strip()
    shorter = ""
    while shorter != words:
        shorter = words
        words = NOTE_AT_END.sub("", words.strip().removesuffix(".")).strip()
        words = words[1:-1] if re.fullmatch(r'"[^"]*"', words) else words
    return " ".join(words.split()).lower()


def number(text: str) -> float | None:
    """The number that a text is, or None."""
    try:
        return float(text.replace(",", "").replace("%", ""))
    except ValueError:
        return None


def is_same(answer: str, gold: str) -> bool:
    """True for equal words, and for equal numbers."""
    ours = normalized(answer)
    theirs = normalized(gold)
    value = number(ours)
    return ours == theirs or (value is not None and value == number(theirs))


def is_right(values: Sequence[str], golds: Sequence[str]) -> bool:
    """True if the values are the gold answers, in any order."""
    return len(values) == len(golds) and all(any(is_same(v, gold) for v in values) for gold in golds)


def folders(tables: Path, is_one: bool) -> Iterator[tuple[Path, list[Path]]]:
    """Each folder with its tables."""
    files = sorted(tables.rglob("*.csv"))
    if is_one:
        yield tables, files
    else:
        for file in files:
            folder = file.with_suffix("")
            folder.mkdir()
            yield folder, [file.rename(folder / file.name)]


def main() -> None:
    """Print the share of right answers, of all questions and of those that are answered."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with wtq")
    parser.add_argument("--one-folder", action="store_true", help="all tables in one folder")
    parser.add_argument("--every", type=int, default=1, help="ask every Nth question only")
    options = parser.parse_args()
    lines = (options.data / "wtq" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    by_table = defaultdict(list)
    for question in map(json.loads, lines[:: options.every]):
        by_table[question["table"].replace("/", "-")].append(question)
    counts = {"questions": 0, "answered": 0, "right": 0}
    with TemporaryDirectory() as scratch:
        with tarfile.open(options.data / "wtq" / "tables.tar.xz") as archive:
            for member in archive.getmembers():
                if member.isfile():
                    member.name = member.name.removeprefix("./").replace("/", "-")
                    archive.extract(member, scratch, filter="data")
        for folder, files in folders(Path(scratch), options.one_folder):
            with spanwise.open(folder, cache=False) as library:
                library.sync(vectors=False)
                for question in (each for file in files for each in by_table[file.name]):
                    values = library.ask(question["question"], retriever="bm25").values
                    counts["questions"] += 1
                    counts["answered"] += bool(values)
                    counts["right"] += is_right(values, question["answers"])
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
