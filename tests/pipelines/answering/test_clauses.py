"""Clauses that a question names by their numbers."""

import pytest

import spanwise
from spanwise.corpora.reading import parse
from spanwise.pipelines.answering.clauses import clause_in, clause_labels

LEASE = """# Lease of the boat house

## 4 Use

### 4.2 Guests

Each member brings two guests, as section
4.3 allows.

### 4.3 Fires

No fires. Grills stand on the gravel.

## 5 End

12. Notice
    (a) Three months; and (b) none:
        (i) after a flood,
        (ii) without rent.
    (c) In writing, see (a).
13. Repairs. The tenant pays.
"""
CONTRACT = """CONTRACT

Article 3
Scope

(1) He sweeps twice.
(2) He also
  (a) inspects under Article 4(1),
  (b) removes nests.

Article 4
Payment

(1) The fee is 80 marks.
(2) It is due at once.
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clauses")
    (folder / "lease.md").write_text(LEASE)
    (folder / "contract.txt").write_text(CONTRACT)
    with spanwise.open(folder, cache=False) as library:
        library.sync(vectors=False)
        yield library


def ask(library, question):
    return library.ask(question, retriever="bm25", reader="fast")


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What does § 7(2)(b) say?", ["7", "2", "b"]),
        ("what is in section 4.3", ["4.3"]),
        ("Quote clause 12 (a).", ["12", "a"]),
        ("Does Article 21, paragraph 3 hold?", ["21", "3"]),
        ("What does paragraph (2)(b) of section 7a say?", ["7a", "2", "b"]),
        ("Which section names a fee of 4.3 marks?", []),
        ("Who wrote this paragraph?", []),
    ],
)
def test_the_numbers_of_a_clause_come_outermost_first(question, labels):
    assert clause_labels(question) == labels


@pytest.mark.parametrize(
    ("text", "labels", "clause"),
    [
        (LEASE, "4.3", "4.3 Fires\n\nNo fires. Grills stand on the gravel."),
        (LEASE, "12 a", "(a) Three months;"),
        (LEASE, "12 b ii", "(ii) without rent."),
        (LEASE, "12 c", "(c) In writing, see (a)."),
        (LEASE, "13", "13. Repairs. The tenant pays."),
        (CONTRACT, "3 2 b", "(b) removes nests."),
        (CONTRACT, "4 2", "(2) It is due at once."),
        (CONTRACT, "4 3", ""),
        ("1 Fees\n\n1.1 Monthly.\n\n2 Term\n\n2.1 Long.", "1", "1 Fees\n\n1.1 Monthly."),
        (CONTRACT, "80", ""),
    ],
)
def test_a_clause_reaches_to_the_next_one(text, labels, clause):
    document = parse(text.encode(), "a.md" if text is LEASE else "a.txt")
    start, end = clause_in(document, labels.split()) or (0, 0)
    assert document.text[start:end] == clause


def test_a_question_what_a_clause_says_is_answered_with_the_clause(library):
    best = ask(library, "What does article 3(2)(b) say?").best
    assert (best.text, best.line, best.confidence) == ("(b) removes nests.", 9, None)


def test_a_declined_question_shows_the_clause_that_it_names_first(library):
    assert "No fires." in ask(library, "Which trees does section 4.3 protect?").candidates[0].text


def test_a_clause_that_no_document_has_is_declined(library):
    assert ask(library, "What does section 77 say?").best is None
