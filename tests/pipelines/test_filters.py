"""A filter selects documents: types, paths, periods, metadata; search and ask are confined to them."""

from __future__ import annotations

import hashlib
import json
import os
import time
from datetime import UTC, date, datetime

import numpy as np
import pytest

import spanwise
from spanwise.errors import FilterUnknown
from spanwise.index import FileState, Store
from spanwise.pipelines.filters import document_moment_ns, moment_ns, select
from spanwise.types import Document, Filter, Passage

WEIRS = {f"weirs/{n}.md": f"# Weir {n}\n\nThe weir of place {n} was raised by Ada Rook.\n" for n in range(30)}


@pytest.fixture
def many(folder):
    """The folder, with thirty more files on a weir, and one that ranks behind all of them."""
    for name, text in WEIRS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "far.txt").write_text(
        "Far away, among hills and woods and a village, there is a weir too.\n" * 3
    )
    os.utime(folder / "far.txt", (10**9, 10**9))
    return folder


@pytest.fixture
def library(many):
    with spanwise.open(many) as opened:
        opened.sync(vectors=False)
        yield opened


def documents(hits):
    return {hit.passage.document_id for hit in hits}


def test_search_finds_what_ranks_behind_k_others(library):
    where = spanwise.Filter(paths=("far.txt",))
    assert documents(library.search("weir", k=3, retriever="bm25", where=where)) == {"far.txt"}
    assert "far.txt" not in documents(library.search("weir", k=3, retriever="bm25"))


@pytest.mark.parametrize("retriever", ["bm25", "tfidf", "rank_bm25", "bm25+tfidf"])
@pytest.mark.parametrize("group", [True, False])
def test_search_many_gives_k_when_so_many_match(library, retriever, group):
    where = Filter(paths=("weirs/**",), types=("md",))
    for hits in library.search_many(
        ["weir rook", "raised place"], k=25, retriever=retriever, dedupe=group, where=where
    ):
        assert len(hits) == 25
        assert documents(hits) <= set(WEIRS)


def test_scores_are_those_of_the_whole_collection(library):
    every = {
        hit.passage.id: hit.score for hit in library.search("weir", k=100, retriever="bm25", dedupe=False)
    }
    for hit in library.search(
        "weir", k=100, retriever="bm25", dedupe=False, where=Filter(before="2010-01-01")
    ):
        assert hit.score == every[hit.passage.id]


def test_a_sync_is_seen_by_the_same_filter(library, many):
    where = Filter(paths=("weirs/",))
    assert library.scope(where).documents == 30
    (many / "weirs/0.md").unlink()
    library.sync(vectors=False)
    assert library.scope(where).documents == 29


def test_ask_takes_a_filter(folder, encoder_folder, reader_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        question, options = "Who built the mill?", {"reader": reader_folder, "threshold": 0.0}
        where = Filter(types=("html",))
        answer = library.ask(question, where=where, **options)
        assert answer.best.span.document_id == "sub/weir.html"
        assert [hit.passage.document_id for hit in answer.nearest] == ["sub/weir.html"]
        assert library.ask_many([question], where=where, **options)[0].text == answer.text
        assert library.ask(question, where=Filter(paths=("x",)), **options).no_answer
        assert library.ask(question, **options).scope is None


def test_the_dense_index_looks_at_the_allowed_alone(many, encoder_folder):
    with spanwise.open(many, model=encoder_folder) as library:
        library.sync()
        for retriever in ("dense", "hybrid"):
            hits = library.search(
                "weir", k=20, retriever=retriever, where=Filter(paths=("far.txt", "mill.md"))
            )
            assert documents(hits) == {"far.txt", "mill.md"}
        among = np.array([1, 2, 3])
        assert {hit.passage.id for hit in library.retriever("dense").search(["x"], 9, among)[0]} == {1, 2, 3}


def search(run, folder, *options):
    return run("search", "weir", "--index", folder, "--retriever", "bm25", *options)


def test_search_options_make_the_filter_and_json_names_it(run, many):
    run("index", many, "--lexical-only")
    options = ("--path", "*.txt", "--path", "!tram*", "--type", "txt", "--before", "2010-01-01")
    code, out, err = search(run, many, *options, "--meta", "encoding=utf-8", "--json")
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert list(record) == ["question", "retriever", "hits", "filter"]
    assert [hit["document"] for hit in record["hits"]] == ["far.txt"]
    assert record["filter"] == {
        "paths": ["*.txt", "!tram*"],
        "types": ["txt"],
        "after": None,
        "before": "2010-01-01",
        "metadata": {"encoding": "utf-8"},
        "documents": 1,
        "of_documents": 34,
        "passages": 1,
    }


DAY = 86_400 * 10**9
# name, media type, day of the file, metadata
DOCUMENTS = [
    ("a.md", "text/markdown", 20_000, {"language": "de", "encoding": "utf-8"}),
    ("in/b.markdown", "text/markdown", 20_001, {"language": "en", "Author": "Ada Rook"}),
    ("in/c.PDF", "application/pdf", 20_002, {"language": "de"}),
    ("in/d.log", "text/plain", 20_003, {}),
    ("mail.eml", "message/rfc822", 20_004, {"date": "2024-10-07T12:00:00+00:00"}),
    ("page.txt", "text/html", 0, {"author": "M\u00fcller"}),
]


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "index", {}) as store:
        with store.writer() as writer:
            for name, media_type, day, metadata in DOCUMENTS:
                put(writer, name, media_type, day * DAY, metadata)
            writer.commit()
        yield store


def put(writer, name, media_type, mtime_ns, metadata, n_passages=2):
    text = "mill " * n_passages
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    document = Document(name, media_type, sha256, "", text, metadata=metadata)
    passages = [Passage(0, name, at, at + 4, "mill") for at in range(0, len(text), 5)]
    writer.put(document, passages, [["mill"]] * n_passages, FileState(len(text), mtime_ns, sha256))


def left(store, **conditions):
    with store.snapshot() as snapshot:
        selection = select(snapshot, Filter(**conditions))
        found = sorted({place[0] for place in snapshot.places(selection.passage_ids.tolist())})
        assert selection.scope.documents == len(found)
        assert selection.scope.passages == len(selection.passage_ids) == 2 * len(found)
        assert selection.scope.of_documents == len(DOCUMENTS)
        assert selection.passage_ids.tolist() == sorted(selection.passage_ids.tolist())
    return found


NAMES = [name for name, *_ in DOCUMENTS]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, NAMES),
        ({"paths": ("in/",)}, NAMES[1:4]),
        ({"paths": ("nowhere/**",)}, []),
        ({"types": ("md",)}, NAMES[:2]),
        ({"types": (".Markdown",)}, NAMES[:2]),
        ({"types": ("pdf", "log")}, NAMES[2:4]),
        ({"types": ("html",)}, [NAMES[5]]),
        ({"types": ("txt",)}, [NAMES[3], NAMES[5]]),
        ({"types": ("application/PDF",)}, [NAMES[2]]),
        ({"metadata": {"LANGUAGE": "de"}}, [NAMES[0], NAMES[2]]),
        ({"metadata": {"author": "Ada Rook"}}, [NAMES[1]]),
        ({"metadata": {"author": "ada rook"}}, []),
        ({"metadata": {"author": "Mu\u0308ller"}}, [NAMES[5]]),
        ({"metadata": {"language": "de", "encoding": "utf-8"}}, [NAMES[0]]),
        ({"types": ("md",), "metadata": {"language": "de"}, "paths": ("*.md",)}, [NAMES[0]]),
        ({"types": ("md",), "paths": ("in/**",), "metadata": {"language": "de"}}, []),
    ],
)
def test_all_conditions_hold_and_any_value_of_one(store, conditions, expected):
    assert left(store, **conditions) == expected


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [
        ("2024-10-05T00:00Z", None, NAMES[1:5]),
        (None, "2024-10-05T00:00Z", [NAMES[0]]),
        ("2024-10-05T00:00Z", "2024-10-06T00:00Z", [NAMES[1]]),
        ("2024-10-07T12:00Z", "2024-10-07T12:00:01Z", [NAMES[4]]),
        (None, "2000-01-01", []),
        ("1970-01-02", "9999-01-01", NAMES[:5]),
    ],
)
def test_a_period_starts_with_after_and_ends_before_before(store, after, before, expected):
    assert left(store, after=after, before=before) == expected


def test_an_unknown_type_lists_those_there_are(store):
    with pytest.raises(FilterUnknown, match="type 'docx'; the types here are eml, html, md, pdf, txt"):
        left(store, types=("md", "docx"))


def test_an_unknown_key_lists_those_there_are(store):
    with pytest.raises(FilterUnknown, match="'tag'; the keys here are Author, author, date, encoding, lang"):
        left(store, metadata={"tag": "x"})


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        ({"after": "soon"}, "invalid date 'soon'"),
        (
            {"after": "2024-01-02", "before": "2024-01-02"},
            "no time is after 2024-01-02 and before 2024-01-02",
        ),
        ({"paths": ("a//b",)}, "an empty name"),
        ({"paths": "notes"}, r"paths must be a tuple such as \('notes',\)"),
        ({"types": "pdf"}, r"types must be a tuple such as \('pdf',\)"),
    ],
)
def test_a_wrong_condition_is_a_value_error(store, conditions, says):
    with pytest.raises(ValueError, match=says):
        left(store, **conditions)


@pytest.mark.parametrize(
    "value", ["' OR '1'='1", "x'); DROP TABLE documents; --", '"', "%", "\x00", "\ud800"]
)
def test_values_that_look_like_sql_are_values(store, value):
    assert left(store, paths=(value,)) == []
    assert left(store, metadata={"language": value}) == []
    with pytest.raises(FilterUnknown):
        left(store, types=(value,))
    with pytest.raises(FilterUnknown):
        left(store, metadata={value: "de"})
    assert left(store) == NAMES


def test_a_filter_does_not_change_with_what_it_was_made_from():
    metadata = {"language": "de"}
    where = Filter(paths=["a"], metadata=metadata)
    metadata.clear()
    assert where == Filter(paths=("a",), metadata={"language": "de"})


def test_removed_documents_are_not_left(store):
    with store.writer() as writer:
        writer.remove("a.md")
        put(writer, "in/c.PDF", "application/pdf", 0, {}, n_passages=1)
        writer.commit()
    with store.snapshot() as snapshot:
        scope = select(snapshot, Filter(types=("md", "pdf"))).scope
    assert (scope.documents, scope.of_documents, scope.passages) == (2, 5, 3)


HOUR = 3_600 * 10**9


@pytest.fixture
def two_hours_east(monkeypatch):
    monkeypatch.setenv("TZ", "EAST-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("value", "hours"),
    [
        ("1970-01-02", 22),
        (date(1970, 1, 2), 22),
        ("1970-01-02T01:00", 23),
        (datetime(1970, 1, 2, 1), 23),
        ("1970-01-02T00:00Z", 24),
        ("1970-01-02T00:00-01:00", 25),
        (datetime(1970, 1, 2, tzinfo=UTC), 24),
    ],
)
def test_a_date_is_its_first_moment_in_local_time(two_hours_east, value, hours):
    assert moment_ns(value) == hours * HOUR


def test_microseconds_are_kept():
    assert moment_ns("2024-01-31T10:00:00.123457+00:00") == 1706695200_123457_000


@pytest.mark.parametrize("value", ["", "2024-13-01", "31.1.2024", "yesterday", "0001-01-01", 2024])
def test_what_is_no_date_is_named(value):
    with pytest.raises(ValueError, match="invalid date"):
        moment_ns(value)


def test_a_document_goes_by_its_own_date_then_by_its_file():
    assert document_moment_ns(5, {"date": "1970-01-02T00:00Z"}) == 24 * HOUR
    assert document_moment_ns(5, {"date": "last summer"}) == 5
    assert document_moment_ns(5, {}) == 5
    assert document_moment_ns(0, {}) is None
