"""A filter leaves the documents that meet all of its conditions, and says what it does not know."""

from __future__ import annotations

import hashlib

import pytest

from spanwise.errors import FilterUnknown, IndexCorrupt
from spanwise.index import FileState, Store
from spanwise.pipelines.filters import select
from spanwise.types import Document, Filter, Passage

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


def test_an_empty_index_has_nothing_to_leave(tmp_path):
    with Store.create(tmp_path / "index", {}) as store, store.snapshot() as snapshot:
        assert select(snapshot, Filter(paths=("*",))).scope.documents == 0
        with pytest.raises(FilterUnknown):
            select(snapshot, Filter(types=("md",)))


def test_removed_documents_are_not_left(store):
    with store.writer() as writer:
        writer.remove("a.md")
        put(writer, "in/c.PDF", "application/pdf", 0, {}, n_passages=1)
        writer.commit()
    with store.snapshot() as snapshot:
        scope = select(snapshot, Filter(types=("md", "pdf"))).scope
    assert (scope.documents, scope.of_documents, scope.passages) == (2, 5, 3)


@pytest.mark.parametrize("damaged", ["[1]", "{", "{},{}", "1", ""])
def test_damaged_metadata_are_named(store, damaged):
    with store.snapshot() as snapshot:
        snapshot.execute("UPDATE documents SET metadata = ? WHERE id = 'a.md'", damaged)
        with pytest.raises(IndexCorrupt, match="damaged"):
            select(snapshot, Filter(metadata={"language": "de"}))
