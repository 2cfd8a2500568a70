"""What a source leaves out is not searched, not read and not shown."""

import pytest
from helpers.scripted_reader import asker

import spanwise
from spanwise.errors import ContractBroken
from spanwise.pipelines.cli.show import show_answer
from spanwise.pipelines.plain_text import shown

POOL = "# Pool\n\nThe pool <!-- zeppelin at 06:00 --> opens at 07:30.\n"


@pytest.fixture
def pool(folder, encoder_folder, indexed):
    (folder / "pool.md").write_text(POOL)
    with indexed(folder, model=encoder_folder) as library:
        yield library


def test_it_is_not_searched(pool):
    assert pool.search("zeppelin", retriever="bm25") == []
    assert pool.search("pool", retriever="bm25")[0].passage.text == POOL.strip()


def test_the_reader_gets_spaces(pool):
    [hit] = pool.search("pool opens", k=1, retriever="bm25")
    assert "zeppelin" not in hit.passage.readable
    assert len(hit.passage.readable) == len(hit.passage.text)


def test_a_quote_around_it_is_shown_without_it(pool, capsys):
    [answer] = asker(pool, ("opens at 07:30", 9.0, 0.0)).answer(["When does the pool open?"])
    assert answer.text == "opens at 07:30"
    assert answer.best.context.text == POOL.splitlines()[2]
    assert shown(answer.best.context) == "The pool opens at 07:30."
    show_answer(answer)
    assert "zeppelin" not in capsys.readouterr().out


def test_a_span_that_begins_inside_is_refused(pool):
    class Reader:
        def read(self, questions, passages, n_best):
            [[passage, *_]] = passages
            start = passage.text.index("06:00")
            span = passage.span(start, start + 20)
            return [[[spanwise.ScoredSpan(span, passage, 1.0, 0.0)] for passage in passages[0]]]

    with pytest.raises(ContractBroken, match="left out"):
        pool.ask("When does the pool open?", retriever="bm25", k=1, reader=Reader())
