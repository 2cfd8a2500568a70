"""A filter selects documents: types, paths, periods, metadata; search and ask are confined to them."""

import hashlib
import json
import os
import time
from datetime import UTC, date, datetime

import pytest

import spanwise
from spanwise.errors import FilterUnknown
from spanwise.index.schema import FileState
from spanwise.index.store import Store
from spanwise.pipelines.answering.filters import document_moment_ns, moment_ns, select
from spanwise.types import Document, Filter, Passage

WEIRS = {f"weirs/{n}.md": f"# Weir {n}\n\nThe weir of place {n} was raised by Ada Rook.\n" for n in range(30)}


@pytest.fixture
def many(folder):
    """The folder, with thirty more files on a weir, and one that ranks behind all of them."""
    for name, text in WEIRS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "far.txt").write_text("Far off, among hills and woods, there is a weir too.\n" * 3)
    os.utime(folder / "far.txt", (10**9, 10**9))
    return folder


@pytest.fixture
def library(many, indexed):
    with indexed(many) as opened:
        yield opened


def documents(hits):
    return {hit.passage.document_id for hit in hits}


@pytest.mark.parametrize("retriever", ["bm25", "bm25+tfidf"])
def test_a_filtered_search_gives_k_hits_of_the_documents_selected(library, retriever):
    where = Filter(paths=("weirs/**",), types=("md",))
    for hits in library.search_many(["weir rook", "raised place"], k=25, retriever=retriever, where=where):
        assert len(hits) == 25
        assert documents(hits) <= set(WEIRS)
    [hit] = library.search("weir", k=3, retriever=retriever, where=Filter(paths=("far.txt",)))
    unfiltered = library.search("weir", k=99, retriever=retriever)
    [same] = [other for other in unfiltered if other.passage == hit.passage]
    assert same.rank > 3
    assert retriever != "bm25" or same.score == hit.score


def test_a_filter_follows_a_sync(library, many):
    where = Filter(paths=("weirs/",))
    assert library.search("weir", retriever="bm25", where=where).scope.documents == 30
    (many / "weirs/0.md").unlink()
    library.sync(vectors=False)
    assert library.search("weir", retriever="bm25", where=where).scope.documents == 29


def test_ask_reads_only_the_documents_selected(folder, encoder_folder, reader_folder):
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
        question = "Who built the mill?"
        options = {"reader": reader_folder, "threshold": 0.0}
        answer = library.ask(question, where=Filter(types=("html",)), **options)
        assert answer.best.span.document_id == "sub/weir.html"
        assert [hit.passage.document_id for hit in answer.nearest] == ["sub/weir.html"]
        assert library.ask(question, **options).scope is None


def search(run, folder, *options):
    return run("search", "weir", "--index", folder, "--retriever", "bm25", *options)


def test_search_options_make_the_filter_and_json_names_it(run, many):
    run("index", many, "--lexical-only")
    options = ("--path", "*.txt", "--path", "!tram*", "--type", "txt", "--before", "2010-01-01")
    code, out, err = search(run, many, *options, "--meta", "encoding=utf-8", "--json")
    record = json.loads(out)
    assert code == 0
    assert err == ""
    assert list(record)[-1] == "filter"
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
        "nearest_path": "",
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
    passages = [Passage(0, name, start, start + 4, "mill") for start in range(0, len(text), 5)]
    writer.put(document, passages, [["mill"]] * n_passages, FileState(len(text), mtime_ns, sha256))


def left(store, **conditions):
    with store.snapshot() as snapshot:
        selection = select(snapshot, Filter(**conditions))
        names = sorted({place[0] for place in snapshot.places(selection.passage_ids.tolist())})
        assert selection.scope.documents == len(names)
        assert selection.scope.passages == len(selection.passage_ids) == 2 * len(names)
        assert selection.scope.of_documents == len(DOCUMENTS)
        assert selection.passage_ids.tolist() == sorted(selection.passage_ids.tolist())
    return names


NAMES = [name for name, *_ in DOCUMENTS]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, NAMES),
        ({"paths": ("in/",)}, NAMES[1:4]),
        ({"paths": ("nowhere/**",)}, []),
        ({"types": (".Markdown",)}, NAMES[:2]),
        ({"types": ("pdf", "log")}, NAMES[2:4]),
        ({"types": ("txt",)}, [NAMES[3], NAMES[5]]),
        ({"types": ("application/PDF",)}, [NAMES[2]]),
        ({"metadata": {"LANGUAGE": "de"}}, [NAMES[0], NAMES[2]]),
        ({"metadata": {"author": "ada rook"}}, []),
        ({"metadata": {"author": "Mu\u0308ller"}}, [NAMES[5]]),
        ({"types": ("md",), "metadata": {"language": "de"}, "paths": ("*.md",)}, [NAMES[0]]),
    ],
)
def test_all_conditions_hold_and_any_value_of_one(store, conditions, expected):
    assert left(store, **conditions) == expected


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [
        ("2024-10-05T00:00Z", "2024-10-06T00:00Z", [NAMES[1]]),
        ("2024-10-07T12:00Z", "2024-10-07T12:00:01Z", [NAMES[4]]),
        (None, "2000-01-01", []),
        ("1970-01-02", "9999-01-01", NAMES[:5]),
    ],
)
def test_after_is_inclusive_and_before_exclusive(store, after, before, expected):
    assert left(store, after=after, before=before) == expected


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        ({"types": ("md", "docx")}, "type 'docx'; the types here are eml, html, md, pdf, txt"),
        ({"metadata": {"tag": "x"}}, "'tag'; the keys here are Author, author, date, encoding, lang"),
        ({"after": "2024-01-02", "before": "2024-01-02"}, "no time is after 2024-01-02 and before"),
        ({"paths": ("a//b",)}, "an empty name"),
        ({"paths": "notes"}, r"paths must be a tuple such as \('notes',\)"),
    ],
)
def test_a_wrong_condition_is_named(store, conditions, says):
    with pytest.raises((FilterUnknown, ValueError), match=says):
        left(store, **conditions)


@pytest.mark.parametrize("value", ["' OR '1'='1", "x'); DROP TABLE documents; --", "%", "\x00", "\ud800"])
def test_values_that_look_like_sql_are_compared_as_values(store, value):
    assert left(store, paths=(value,)) == []
    assert left(store, metadata={"language": value}) == []
    with pytest.raises(FilterUnknown):
        left(store, types=(value,))
    with pytest.raises(FilterUnknown):
        left(store, metadata={value: "de"})
    assert left(store) == NAMES


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
        (datetime(1970, 1, 2, 1), 23),
        ("1970-01-02T00:00-01:00", 25),
        (datetime(1970, 1, 2, tzinfo=UTC), 24),
    ],
)
def test_a_date_is_its_first_moment_in_local_time(two_hours_east, value, hours):
    assert moment_ns(value) == hours * HOUR


@pytest.mark.parametrize("value", ["", "2024-13-01", "31.1.2024", "0001-01-01", 2024])
def test_a_malformed_date_is_named(value):
    with pytest.raises(ValueError, match="invalid date"):
        moment_ns(value)


def test_a_document_goes_by_its_own_date_then_by_its_file():
    assert document_moment_ns(5, {"date": "1970-01-02T00:00Z"}) == 24 * HOUR
    assert document_moment_ns(5, {"date": "last summer"}) == 5
    assert document_moment_ns(5, {}) == 5
    assert document_moment_ns(0, {}) is None
