import pytest

from spanwise.index.schema import UnreadFile

BROKEN = UnreadFile(10, 20, "rejected", "it is broken: caf\u00e9", "2")
PICTURE = UnreadFile(0, -1, "skipped", "no text")


@pytest.fixture
def corpus(corpus_of):
    corpus = corpus_of({"a": ["one"]})
    with corpus.store.writer() as writer:
        writer.put_unread_file("z.pdf", BROKEN)
        writer.put_unread_file("b.png", PICTURE)
        writer.commit()
    return corpus


def unread_files(corpus):
    with corpus.snapshot() as snapshot:
        return snapshot.unread_files()


def test_an_unread_file_is_replaced_and_forgotten(corpus) -> None:
    with corpus.store.writer() as writer:
        writer.put_unread_file("b.png", BROKEN)
        writer.remove_unread_file("z.pdf")
        writer.commit()
    assert unread_files(corpus) == {"b.png": BROKEN}
    with corpus.store.writer() as writer, pytest.raises(ValueError, match=r"no unread file 'z\.pdf'"):
        writer.remove_unread_file("z.pdf")
