"""The truncation ledger: what the encoder's window missed is found to the character, told, and refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from spanwise.index.rows import indexed_text
from spanwise.pipelines.coverage import _uncovered
from spanwise.types import Passage

HEX = "0x52908400098527886e0f7030069857d2e4169ee7, 0xde709f2102306220921060314715629080e2fb77"


@pytest.fixture
def narrow(folder, encoder_folder):
    """A library whose encoder sees eight tokens of a passage: six without [CLS] and [SEP]."""
    (folder / "long.md").write_text("# A\n\none two three four five six seven  eight nine\n")
    with spanwise.open(folder, model=encoder_folder) as library:
        library.encoder.max_length = 8
        yield library


def passages_of(text: str, spans):
    return [(Passage(0, "a", start, end, text[start:end]), count) for start, end, count in spans]


@pytest.mark.parametrize(
    ("spans", "missed"),
    [
        ([(0, 20, 20)], []),
        ([(0, 20, 12)], ["mnop rst"]),
        ([(0, 12, 8), (12, 20, 8)], ["ij l"]),
        ([(0, 12, 8), (6, 20, 14)], []),
        ([(0, 12, 8), (10, 20, 2)], ["ij", "mnop rst"]),
    ],
)
def test_gaps_are_what_no_passage_covers(spans, missed) -> None:
    text = "abcdefghij lmnop rst"
    assert [text[start:end] for start, end in _uncovered(text, passages_of(text, spans))] == missed


@given(st.data())
def test_gaps_and_covered_parts_make_up_the_text(data) -> None:
    text = data.draw(st.text("ab \n", min_size=1, max_size=40))
    starts = sorted({0, *data.draw(st.lists(st.integers(0, len(text) - 1), max_size=5))})
    spans = [
        (start, end, data.draw(st.integers(0, end - start)))
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]
    seen = {at for start, _, count in spans for at in range(start, start + count)}
    missed = [at for start, end in _uncovered(text, passages_of(text, spans)) for at in range(start, end)]
    assert {at for at in missed if not text[at].isspace()} == {
        at for at, character in enumerate(text) if at not in seen and not character.isspace()
    }
    assert missed == sorted(set(missed))


def test_a_gap_is_found_to_the_character(narrow) -> None:
    narrow.sync()
    [gap] = [gap for gap in narrow.gaps() if gap.document_id == "long.md"]
    [passage] = [passage for passage in narrow.passages() if passage.document_id == "long.md"]
    [seen] = narrow.encoder.covered([indexed_text(passage)]).tolist()
    assert indexed_text(passage)[seen:].strip() == gap.text
    assert narrow.document("long.md").text[gap.start : gap.end] == gap.text


def test_passages_without_a_vector_are_no_gaps(folder) -> None:
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
        assert library.gaps() == []


def test_an_ordinary_folder_has_no_gaps(folder) -> None:
    (folder / "data.txt").write_text(f"{HEX}\n" * 99)
    (folder / "zh.txt").write_text("渡轮早上八点从下码头出发，中午以前回来。" * 90)
    with spanwise.open(folder) as library:
        library.sync()
        assert library.gaps() == []


def test_status_tells_and_strict_refuses(narrow, run) -> None:
    narrow.sync()
    gaps = narrow.gaps()
    index = ("--index", narrow.store.path)
    code, out, _ = run("status", *index, "--gaps", "--json")
    record = json.loads(out)
    assert (code, [gap["text"] for gap in record["gaps"]]) == (0, [gap.text for gap in gaps])
    assert record["beyond_window"]["characters"] == sum(len(gap.text) for gap in gaps)
    assert "spanwise status --gaps" in run("status", *index)[1]
    assert f"long.md  {gaps[0].start}-" in run("status", *index, "--gaps")[1]
    code, _, err = run("index", *index, "--strict")
    assert (code, "long.md" in err, "beyond the encoder's window" in err) == (1, True, True)
