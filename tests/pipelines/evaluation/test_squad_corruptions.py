"""Two hundred damaged files: each is refused by name, or scored as far as it was understood and counted."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from corrupt_squad import DATA, NA, PREDICTIONS, Case, Corruption, Refused, Scored, corruptions
from small_squad import ANSWERS, small_squad

from spanwise.eval.squad import score_v1
from spanwise.eval.squad_na_probability import score_v2_with_na

COUNT = 200
NUMBER = r"([\d,]+) of [\d,]+"
NOTICES = {
    "unanswered": rf"{NUMBER} questions have no prediction in \S*predictions\.json: .*",
    "unknown_predictions": rf"{NUMBER} entries in \S*predictions\.json are for ids not in the data: .*",
    "unknown_probabilities": rf"{NUMBER} entries in \S*na_probs\.json are for ids not in the data: .*",
    "relocated": rf"{NUMBER} questions in \S*data\.json have an answer that does not start where .*",
}
OF_PUBLISHED = (
    "predictions_renamed predictions-damaged_gzip na_other_value na_lost data_question_lost".split()
)
Run = Callable[..., tuple[int, str, str]]


def small_case(version: str) -> Case:
    """Every question is answered, some wrongly, and no two texts of the files are alike by chance."""
    data = small_squad(version)
    data["data"][0]["title"] = "Zürich"
    predictions, na = {**ANSWERS, "q1": "Rook"}, None
    if version == "2.0":
        predictions |= {"n0": "", "n1": "Ute Falk", "n2": ""}
        na = {"q0": 0.1, "q1": 0.4, "q2": 0.6, "n0": 0.9, "n1": 0.7, "n2": 0.5}
    return Case(data, predictions, na)


def planned() -> list[tuple[str, str, int, Corruption]]:
    """(name, version, seed, corruption), each kind in turn until there are enough."""
    kinds = [(v, *kind) for v in ("1.1", "2.0") for kind in corruptions(small_case(v))]
    return [
        (f"{seed:03}-v{version}-{name}", version, seed, corruption)
        for seed, (version, name, corruption) in ((i, kinds[i % len(kinds)]) for i in range(COUNT))
    ]


def test_every_kind_is_among_them() -> None:
    kinds = {name for version in ("1.1", "2.0") for name, _ in corruptions(small_case(version))}
    assert kinds == {name.split("-", 2)[2] for name, *_ in planned()}


@pytest.mark.parametrize(
    ("version", "seed", "corruption"), [pytest.param(*case[1:], id=case[0]) for case in planned()]
)
def test_damage_is_refused_or_counted(
    run: Run, tmp_path: Path, version: str, seed: int, corruption: Corruption
) -> None:
    case = small_case(version)
    expected = corruption(case, random.Random(seed))
    check(run, tmp_path, case, expected)


@pytest.fixture(scope="module")
def published(data: Path) -> Callable[[], Case]:
    """Makes the case of SQuAD 2.0 dev and of predictions that were published for it."""
    official = data / "squad-official"
    files = [data / "squad" / "dev-v2.0.json.gz"]
    files += [official / f"v2.0-nlnet-single{part}.json.gz" for part in ("", ".na_prob")]
    texts = [gzip.decompress(path.read_bytes()) for path in files]
    return lambda: Case(*(json.loads(text) for text in texts))


@pytest.mark.parametrize("kind", OF_PUBLISHED)
def test_damage_to_published_files_too(
    run: Run, tmp_path: Path, published: Callable[[], Case], kind: str
) -> None:
    case = published()
    check(run, tmp_path, case, dict(corruptions(case))[kind](case, random.Random(kind)))


def check(run: Run, folder: Path, case: Case, expected: Refused | Scored) -> None:
    arguments: list[object] = []
    for name in (DATA, PREDICTIONS, *([NA] if case.na_probs is not None else [])):
        (folder / f"{name}.json").write_bytes(case.bytes_of(name))
        arguments += [f"--{name}".replace("_", "-"), folder / f"{name}.json"]
    code, out, err = run("eval", "squad", *arguments, "--json")
    if isinstance(expected, Refused):
        assert (code, out) == (1, ""), err
        assert re.fullmatch(rf"spanwise: \S*{expected.file}\.json: .*{re.escape(expected.words)}.*\n", err)
    else:
        assert code == 0, err
        assert told(err) == expected
        assert json.loads(out) == pytest.approx(right_score(case), abs=1e-9)


def told(err: str) -> Scored:
    """The counts in the notices; a line that is no notice, or twice the same one, fails."""
    found: dict[str, int] = {}
    for line in err.splitlines():
        [(name, match)] = [(n, m) for n, notice in NOTICES.items() if (m := re.fullmatch(notice, line))]
        assert name not in found
        found[name] = int(match[1].replace(",", ""))
    return Scored(**found)


def right_score(case: Case) -> dict[str, float]:
    """The score of what a case holds."""
    if case.version == "1.1":
        return score_v1(case.golds(), case.predictions)
    return score_v2_with_na(case.golds(), case.predictions, case.na_probs)
