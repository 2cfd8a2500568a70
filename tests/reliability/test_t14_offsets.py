"""T14: whatever was put into a file comes out as an exact span of its document, and in its passages.

Many short texts over all planes go into each file, each as what is one line of words to every format;
tests/corpora/test_offsets.py has those that end lines and open blocks.
"""

import random
import unicodedata
from collections.abc import Iterator

import pytest
from helpers.document_checks import check
from helpers.files import MAKERS, NOT_IN_HELVETICA
from helpers.office_files import NOT_IN_XML

import spanwise
from spanwise.corpora.datasets.squad import read_squad
from spanwise.corpora.passages import split
from spanwise.corpora.reading import SkippedFile, parse
from spanwise.types import Document

N_TEXTS = 5_000
N_NIGHTLY = 200_000
A_FILE = 200
A_PAGE = 30
SOURCE = ("a.txt", "a.md", "a.rst", "a.adoc", "a.tex")  # what is stored is the file's own text
PLANES = (0, 0, 0, 0, 1, 2, 3, 14, 15, 16)
WORDS = [
    *("word ", "The mill. ", "Dr. No said so! ", "e\u0301", "\u0301\u0327", "日本語。", "ไทย", "ﷺ"),
    *("\uac01", "\u1100\u1161", "\u2764\ufe0f", "\U0001f468\u200d\U0001f469"),
]
SIGNS = '<b> &amp; " a,b \\ {x} # - | ` ~ \u200b \u202e \ufeff \xad == :: */'.split(" ")


def any_text(chance: random.Random) -> str:
    """Up to twelve words, signs, spaces and single characters of any plane but surrogates."""
    pools = (WORDS, SIGNS, [" "], [any_character(chance)], [any_character(chance)])
    return "".join(chance.choice(chance.choice(pools)) for _ in range(chance.randrange(1, 13)))


def any_character(chance: random.Random) -> str:
    code = chance.choice(PLANES) << 16 | chance.randrange(0x10000)
    return any_character(chance) if 0xD800 <= code < 0xE000 else chr(code)


def one_line(name: str, text: str) -> str:
    """What of a text every program that makes the format can write on one line."""
    if name == "a.pdf":  # in a font of Latin letters, where a hyphen at the end of a line parts a word
        latin = (c if ord(c) < 0x100 else chr(0x61 + ord(c) % 26) for c in text)
        text = NOT_IN_HELVETICA.sub("", "".join(latin)).rstrip("- ")
    if name == "a.rtf":  # striprtf takes bars at the end of a line for borders of cells
        text = text.rstrip("| ")
    if name == "a.xml":  # escaped tags are read as tags, for feeds
        text = text.replace("<", "")
    return " ".join(NOT_IN_XML.sub("", text).split())


def stored(name: str, text: str) -> str:
    """How the format spells a text in what is kept of the file."""
    return text.replace('"', '""') if name in ("a.csv", "a.tsv") else text


def made(name: str, texts: list[str]) -> Document:
    """The document of a file that holds each text as a paragraph, line, slide, chapter or separate cell."""
    between = {"a.xlsx": "\n", "a.ods": "\t", "a.odp": "\f", "a.epub": "\f", "a.pdf": "\n"}.get(name, "\n\n")
    pages = (
        [texts[row : row + A_PAGE] for row in range(0, len(texts), A_PAGE)] if name == "a.pdf" else [texts]
    )
    document = parse(MAKERS[name]("\f".join(map(between.join, pages))), name)
    assert not isinstance(document, SkippedFile)
    return document


def texts_that_are_lost(name: str, n_texts: int, chance: random.Random) -> Iterator[str]:
    """The texts that do not come back as exact spans, in order; every document is checked."""
    for _ in range(n_texts // A_FILE):
        texts = [one_line(name, any_text(chance)) or "blank" for _ in range(A_FILE)]
        texts[0] = texts[0].lstrip("\ufeff") or "blank"  # there it is a byte order mark
        document = made(name, texts)
        place = 0
        check(document, words=20, overlap=5)
        for text in texts:
            start = document.text.find(stored(name, text), place)
            if start < 0:
                yield text
            else:
                place = start + len(stored(name, text))


@pytest.mark.smoke
def test_some_texts_come_back_exactly() -> None:
    for name in MAKERS:
        assert list(texts_that_are_lost(name, A_FILE, random.Random(7))) == []


@pytest.mark.parametrize("name", MAKERS)
def test_texts_come_back_exactly(name, nightly, record) -> None:
    seed = random.SystemRandom().randrange(2**32) if nightly else 14
    print(f"{seed=}")  # shown when the test fails
    n_texts = N_NIGHTLY if nightly and name in SOURCE else N_TEXTS
    lost = list(texts_that_are_lost(name, n_texts, random.Random(seed)))
    figure = f"texts over all planes that come back as exact spans, {name[2:]}"
    record("T14", figure, f"{n_texts - len(lost):,} of {n_texts:,}")
    assert lost == []


@pytest.mark.parametrize("name", ["dev-v1.1", "dev-v2.0"])
def test_gold_answers_lie_in_one_passage(name, data, record) -> None:
    n_answers = 0
    parted = []
    articles = read_squad(data / "squad" / f"{name}.json.gz").articles
    for paragraph in (p for article in articles for p in article.paragraphs):
        document = parse(paragraph.context.encode(), "a.txt")
        assert isinstance(document, Document)
        passages = split(document)
        for answer in (answer for question in paragraph.questions for answer in question.answers):
            n_answers += 1
            before = [passage for passage in passages if passage.start <= answer.start]
            if not any(p.text.startswith(answer.text, answer.start - p.start) for p in before):
                parted.append(answer)
    whole = f"{n_answers - len(parted):,} of {n_answers:,}"
    record("T14", f"answers of SQuAD {name} inside one passage", whole)
    assert parted == []


COMPOSED = [
    "Das Mühlwehr am Fluß gehört Frau Böhm-Đặng.",
    "Ça coûte cinq œufs à l'hôtel du Château.",
    "Người thợ xay đã bán cối xay cũ.",
    "한국어 문장은 방앗간 이야기입니다.",
    "ガラスのびんをパン屋がかった。",
    "Ёлка стоит у мельницы, а йод в аптеке.",
    "Ο μύλος ανήκει στην Ελένη Αΐδου.",
    "\u212bngström measured 5 \u2126 at the mill.",
]


def test_spellings_of_a_query_find_the_same(tmp_path, record) -> None:
    for number, sentence in enumerate(COMPOSED):
        text = unicodedata.normalize(("NFC", "NFD")[number % 2], sentence)
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    words = [*COMPOSED, *(word for sentence in COMPOSED for word in sentence.split())]
    with spanwise.open(tmp_path, model="base") as library:
        library.sync()
        for retriever in ("tfidf", "bm25", "dense", "hybrid"):
            by_form = []
            for form in ("NFC", "NFD"):
                questions = [unicodedata.normalize(form, word) for word in words]
                hits = library.search_many(questions, k=8, retriever=retriever)
                by_form.append([[hit.passage.document_id for hit in each] for each in hits])
            assert by_form[0] == by_form[1]
            assert [each[0] for each in by_form[0][: len(COMPOSED)]] == [
                f"{n}.txt" for n in range(len(COMPOSED))
            ]
            figure = f"queries that find the same composed and decomposed, {retriever}"
            record("T14", figure, f"{len(words)} of {len(words)}")
