"""T3: damage to any file of an index is found and named, and no answer comes from it. T4: other formats are
refused. T8: an index that somebody changed opens or is refused; it ends no process and hangs none.
"""

import json
import random
import resource
import shutil
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from crashes import Say, run
from helpers.corpora import Corpus
from workload import (
    HISTORY,
    Damage,
    answers,
    answers_or_error,
    commit,
    complaints,
    files_of,
    flipped,
    make_index,
    scrambled,
    truncated,
    zeroed,
)

from spanwise.errors import FormatTooNew, FormatTooOld, IndexCorrupt
from spanwise.index.catalog import Catalog
from spanwise.index.schema import state_digest
from spanwise.index.store import Store

CATALOG = Path("catalog.sqlite")
# of a process that uses a mutated index
MEMORY = 4 * 2**30
SECONDS = 10


@pytest.fixture(scope="module")
def index(module_memory: Path) -> Path:
    return make_index(module_memory / "index")


def stored(index: Path) -> list[object]:
    """Every value of every row of the catalog, and how the tables are made."""
    with closing(sqlite3.connect(index / CATALOG)) as catalog:
        return list(catalog.iterdump())


def damaged(index: Path, copy: Path, file: Path, how: Damage | None, draw: random.Random) -> Path:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(index, copy)
    if how:
        (copy / file).write_bytes(how((index / file).read_bytes(), draw))
    else:
        (copy / file).unlink()
    return copy


def check_damage(index: Path, copy: Path, how: Damage | None, times: int, n_files: int) -> str:
    """The figure, after each damage proved to be detected and named, or to be in bytes that hold nothing."""
    draw = random.Random(11)
    right = answers(index)
    rows = stored(index)
    detected = harmless = 0
    for file in files_of(index)[:n_files]:
        for _ in range(times):
            damaged(index, copy, file, how, draw)
            answered, error = answers_or_error(copy)
            if lines := complaints(copy):
                assert any(file.name in line for line in lines), lines
                assert answered in (None, right), file
                detected += 1
            else:  # a bit that SQLite does not read
                assert file == CATALOG
                assert how is flipped
                assert answered == right
                assert error == ""
                assert stored(copy) == rows
                harmless += 1
    return f"{detected} of {detected + harmless}" + (f", {harmless} in unused bytes" if harmless else "")


@pytest.mark.smoke
def test_flipped_bits_are_detected_and_named(index, memory) -> None:
    check_damage(index, memory / "copy", flipped, 1, 5)


@pytest.mark.parametrize("how", [flipped, truncated, zeroed, None], ids=lambda how: how and how.__name__)
def test_damage_is_detected_and_named(index, memory, record, nightly, how: Damage | None) -> None:
    times = {flipped: (10, 200), truncated: (10, 50)}.get(how, (1, 1))[nightly]
    figure = check_damage(index, memory / "copy", how, times, 10**9)
    record("T3", f"files {how.__name__ if how else 'deleted'}: damage detected and named", figure)


def test_a_damaged_log_gives_an_older_commit_whole_or_nothing(memory, record, nightly) -> None:
    path = memory / "index"
    draw = random.Random(13)
    last = memory / "last"
    commits: list[object] = [None]
    with Corpus(path).store as held:  # as long as it is open the log holds the commits
        for change in HISTORY:
            commit(held, change)
            commits.append(answers(path))
        shutil.copytree(path, last)
    times = 500 if nightly else 40
    for number in range(times):
        how = (flipped, truncated)[number % 2]
        copy = damaged(last, memory / "copy", Path("catalog.sqlite-wal"), how, draw)
        answered, error = answers_or_error(copy)
        assert answered in commits
        assert (answered is None) == bool(error)
    record("T3", "damaged logs that serve no mixture of commits", f"{times} of {times}")


@pytest.mark.smoke
@pytest.mark.promise("T4")
def test_other_formats_are_refused_by_name(index, memory) -> None:
    for pragma, change, error in (
        ("user_version", 1, FormatTooNew),
        ("user_version", -2, FormatTooOld),
        ("application_id", 1, IndexCorrupt),
    ):
        copy = shutil.copytree(index, memory / f"{pragma} {change}")
        with closing(sqlite3.connect(copy / CATALOG)) as catalog:
            (value,) = catalog.execute(f"PRAGMA {pragma}").fetchone()
            catalog.execute(f"PRAGMA {pragma} = {value + change}")
        with pytest.raises(error, match=r"format|not the catalog"):
            Store.open(copy)


def damage_files(index: Path, draw: random.Random) -> None:
    """Change one file to three."""
    for file in draw.sample(files_of(index), draw.randint(1, 3)):
        whole = (index / file).read_bytes()
        (index / file).write_bytes(draw.choice((scrambled, scrambled, truncated))(whole, draw))


def exchange_files(index: Path, draw: random.Random) -> None:
    """Give two files each other's content."""
    first, second = (index / file for file in draw.sample(files_of(index), 2))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


NONSENSE = (-1, 0, 1, 2**63, 10**30, "", "|O", "<f4", "../../x", None, [], [2**40, 2**40], {}, True)


def forge_a_segment(index: Path, draw: random.Random) -> None:
    """Change a value of a manifest and make every digest above it fit, as somebody who means harm would."""
    old = draw.choice(sorted((index / "segments").iterdir()))
    manifest = json.loads((old / "manifest.json").read_bytes())
    target = draw.choice((manifest, *manifest["columns"].values(), manifest["columns"]))
    target[draw.choice(sorted(target))] = draw.choice(NONSENSE)
    text = json.dumps(manifest).encode()
    new = old.rename(old.with_name(sha256(text).hexdigest()))
    (new / "manifest.json").write_bytes(text)
    with closing(sqlite3.connect(index / "catalog.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE segments SET id = ? WHERE id = ?", (new.name, old.name))
        catalog = Catalog.open(index / "catalog.sqlite")
        (state,) = catalog.rows("SELECT generation, documents, passages FROM state")
        sealed = state_digest(
            *state.values(), catalog.settings, catalog.segments(), catalog.deleted().astype("<i8").tobytes()
        )
        catalog.close()
        database.execute("UPDATE state SET digest = ?", (sealed,))


def use(say: Say, index: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    say(complaints(index))
    say(answers_or_error(index))


@pytest.mark.promise("T8")
@pytest.mark.times(3, 50, 2000)
@pytest.mark.parametrize("how", [damage_files, exchange_files, forge_a_segment])
def test_a_mutated_directory_ends_no_process(index, memory, record, times, how) -> None:
    right = answers(index)
    harmless = 0
    for number in range(times):
        copy = shutil.copytree(index, memory / "copy")
        how(copy, random.Random(number))
        end = run(use, copy, timeout_s=SECONDS)
        assert end.code == 0, number
        lines, (answered, error) = end.messages
        if how is not forge_a_segment:  # whose digests all fit
            assert answered in (None, right)
            assert lines or answered == right
        harmless += not lines and not error
        shutil.rmtree(copy)
    figure = f"mutated directories, {how.__name__.replace('_', ' ')}: crashes, hangs, wrong answers"
    record("T8", figure, f"{times}: 0, {harmless} of them harmless")
