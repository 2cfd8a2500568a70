"""Training on a borrowed GPU machine, here on the CPU with tiny models: parts, groups, steps, results."""

import json
import subprocess
import sys
from pathlib import Path

import gpu_run
import numpy as np
import pytest
from gpu_chain.data import PackedGroups, cut, join, read_manifest, write_manifest
from gpu_chain.steps import TEACHER
from helpers.tiny_models import tiny_mpnet
from hypothesis import given, strategies as st

from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import DataMalformed
from spanwise.models.model_files import find_base
from spanwise.models.tokenizer import load_tokenizer
from spanwise.pipelines.training.questions import mined_file, passages_file
from spanwise.reader.load import load_reader
from spanwise.reader.training import RECIPES, ReaderExample, training_groups
from spanwise.types import Passage

ROOT = Path(__file__).parents[2]
MILL = "It stands by the weir. The mill was built by Ada Rook in 1811. It has two wheels."
OTHERS = [
    f"The {name} was opened by Ute Falk. It is old." for name in ("tram", "school", "bridge", "library")
]
LONG = "Nobody lives there now. " * 90 + MILL
BLOCKED = (
    "typer numba faiss rank_bm25 Stemmer sqlite_utils langchain_text_splitters pypdfium2 rich transformers"
)


@given(st.binary(max_size=400), st.integers(1, 90))
def test_parts_join_to_the_file_and_are_no_larger_than_allowed(tmp_path_factory, content, most):
    folder = tmp_path_factory.mktemp("parts")
    (folder / "weights").write_bytes(content)
    parts = cut(folder / "weights", folder, most)
    write_manifest(folder, {"weights": parts})
    assert max(part.size for part in parts) <= most
    join(read_manifest(folder)["weights"], [folder / "elsewhere", folder], folder / "joined")
    assert (folder / "joined").read_bytes() == content


@pytest.mark.parametrize(
    ("harm", "complaint"),
    [
        (lambda path: path.write_bytes(b"\0" + path.read_bytes()[1:]), "weights.01 is damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "weights.01 is damaged"),
        (lambda path: path.unlink(), "weights.01 is missing"),
    ],
)
def test_a_part_that_is_not_whole_is_named(tmp_path, harm, complaint):
    (tmp_path / "weights").write_bytes(bytes(range(1, 31)))
    parts = cut(tmp_path / "weights", tmp_path, 10)
    harm(tmp_path / "weights.01")
    with pytest.raises(DataMalformed, match=complaint):
        join(parts, [tmp_path], tmp_path / "joined")
    assert not (tmp_path / "joined").exists()


def test_groups_come_back_as_they_were_packed(tmp_path):
    tokenizer = load_tokenizer(find_base())
    start = LONG.index("Ada")
    negatives = (("", OTHERS[0]),)
    long = ReaderExample(
        "a", "Who built it?", LONG, start, start + 8, "x", "Town. ", negatives, labels=(0, -1, 1)
    )
    examples = [long, ReaderExample("b", "Who sold it?", MILL, None, None, "x")]
    PackedGroups.of(examples, [False, True], tokenizer, 4).save(tmp_path / "groups")
    packed = PackedGroups.load(tmp_path / "groups")
    expected = training_groups(examples, tokenizer, 4, RECIPES["lists"], sentence_spans)
    for packed_group, group in zip(packed.rows(4), expected, strict=True):
        for packed_row, row in zip(packed_group, group, strict=True):
            assert [(ids - 4).tolist() for ids in packed_row.ids] == [ids.tolist() for ids in row.ids]
            assert packed_row.answer == row.answer
            assert packed_row.support == row.support
            assert packed_row.labels == row.labels
            assert packed_row.first == row.first
    own = expected[0][0]
    assert list(own.support) in [[first, after - 1] for first, after in packed.sentences_in(0).tolist()]
    [[first, end], last] = packed.sentences_in(1).tolist()
    assert first == 0
    assert last == [end, len(expected[0][1].window)]


def prepared(folder: Path) -> Path:
    """What `prepare` makes of a tiny base and a folder with twelve questions."""
    (folder / "own" / "town").mkdir(parents=True)
    run = folder / "run"
    run.mkdir()
    lines = []
    for number in range(12):
        item = {"id": f"q{number}", "question": f"Who built mill {number}?", "type": "factoid"}
        item |= {"document": "mill.md", "heading": "Town", "passage": MILL, "answer": "Ada Rook"}
        lines.append(item | {"answer_start": MILL.index("Ada")})
    (folder / "own" / "town.jsonl").write_text("\n".join(map(json.dumps, lines)))
    passages_file(run, "town").write_text("".join(f"{json.dumps(('Town. ', text))}\n" for text in OTHERS))
    ranks = {"colbert": [0, 1, 2, 3], "dense": [3, 2, 1, 0]}
    rankings = [{"question": line["question"], **ranks} for line in lines]
    mined_file(run, "town").write_text("".join(f"{json.dumps(line)}\n" for line in rankings))
    tiny_mpnet(folder / "base")
    words = ["prepare", "--folders", folder / "own", "--mined", run]
    words += ["--base", folder / "base", "--out", folder / "gpu"]
    assert gpu_run.main([str(word) for word in words]) == 0
    return folder / "gpu"


def step(name: str, work: Path, *more: object) -> int:
    return gpu_run.main(["step", name, "--work", str(work), "--device", "cpu", *map(str, more)])


def test_a_teacher_is_prepared_and_trained_in_two_calls(tmp_path, capsys):
    carried = prepared(tmp_path)
    work = tmp_path / "work"
    assert step("teacher", work) == 1
    assert "settings.json is missing: run the step receive" in capsys.readouterr().err
    hidden = [path.rename(tmp_path / path.name) for path in carried.glob("teacher-base*")]
    assert step("receive", work, "--from", carried) == 0
    assert "waits for teacher-base.safetensors.00" in capsys.readouterr().out
    for path in hidden:
        path.rename(carried / path.name)
    assert step("receive", work, "--from", carried) == 0
    few = ("--batch-tokens", 400, "--tokens", 2000)
    assert step("teacher", work, *few, "--minutes", 0) == gpu_run.TIME_WAS_UP
    assert not (work / TEACHER).exists()
    assert step("teacher", work, *few) == 0
    assert (work / TEACHER).is_file()
    assert "teacher is trained to its end" in capsys.readouterr().out


@pytest.mark.reliability
def test_the_whole_chain_returns_readers_that_read(tmp_path, capsys):
    carried = prepared(tmp_path)
    work = tmp_path / "work"
    assert gpu_run.main(["plan", "--from", str(carried), "--json"]) == 0
    calls = json.loads(capsys.readouterr().out.partition("\n[")[2].join(["[", ""]))
    assert [path for call in calls for path in call["carry"] if not Path(path).is_file()] == []
    for name in ("receive", "teacher", "label", "student"):
        more = ("--from", carried) if name == "receive" else ("--batch-tokens", 2000)
        assert step(name, work, *more) == 0
    assert "the answering passage is first" in capsys.readouterr().out
    assert step("export", work, "--out", tmp_path / "back") == 0
    assert step("export", work, "--out", tmp_path / "back", "--call", 9) == 1
    joined = ["join", tmp_path / "back", "--prepared", carried, "--base", tmp_path / "base"]
    assert gpu_run.main([*map(str, joined), "--out", str(tmp_path / "made")]) == 0
    passage = Passage(0, "mill.md", 0, len(MILL), MILL)
    for name in ("reader", "teacher-q8"):
        reader = load_reader(str(tmp_path / "made" / name), "cpu")
        [[spans]] = reader.read(["Who built the mill?"], [[passage]], 1)
        assert spans[0].span.text in MILL
        assert np.isfinite(spans[0].relevance)


def test_steps_need_no_package_but_torch_and_its_companions():
    """Those that the GPU machine may lack are refused."""
    code = (
        "import sys\n"
        f"for name in {BLOCKED.split()}: sys.modules[name] = None\n"
        "sys.path.insert(0, 'scripts')\n"
        "import gpu_run, gpu_chain.steps\n"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
