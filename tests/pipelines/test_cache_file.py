"""The cache file: bytes come back as they were or not at all, and nothing that happens to it is an error."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from spanwise.pipelines.cache_file import CacheFile, Looks

WRITER = """
import sys
from pathlib import Path
from spanwise.pipelines.cache_file import CacheFile

with CacheFile(Path(sys.argv[1])) as file:
    print("writing", flush=True)
    for number in range(int(sys.argv[2])):
        file.put("n", str(number), str(number).encode() * 100)
        file.get("n", str(number // 2))
"""


@pytest.fixture
def file(tmp_path):
    with CacheFile(tmp_path / "cache.sqlite") as opened:
        yield opened


def writer(path, n) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_what_was_put_comes_back_and_nothing_else(file):
    file.put("a", "key", b"\x00value")
    assert file.get("a", "key") == b"\x00value"
    assert (file.get("b", "key"), file.get("a", "other")) == (None, None)


def test_looking_makes_no_file(file):
    assert (file.looks(), file.entries()) == ({}, {})
    assert not file.path.exists()


def test_a_new_seal_drops_what_was_kept_under_others(file):
    file.put("a", "old", b"1", seal="first")
    file.put("v", "stays", b"2")
    file.put("a", "new", b"3", seal="second")
    assert (file.get("a", "old"), file.get("v", "stays"), file.get("a", "new")) == (None, b"2", b"3")


def test_looks_are_counted(file):
    file.count("a", "x", found=False)
    file.count("a", "x", found=True)
    assert file.looks() == {"a": Looks(1, 1)}
    assert file.looks()["a"].rate == 0.5


def test_the_file_stays_within_its_bound_and_keeps_what_is_used(tmp_path):
    with CacheFile(tmp_path / "cache.sqlite", most_bytes=256 * 1024) as file:
        file.put("a", "used", b"u" * 1000)
        for number in range(1000):
            file.put("a", str(number), os.urandom(1000))
            file.count("a", "used", found=True)
        assert file.path.stat().st_size < 400 * 1024
        assert file.get("a", "used") == b"u" * 1000
        assert file.get("a", "999") is not None
        assert file.get("a", "0") is None


def test_a_value_that_would_fill_the_file_is_not_kept(tmp_path):
    with CacheFile(tmp_path / "cache.sqlite", most_bytes=8000) as file:
        file.put("a", "key", b"x" * 1001)
        assert file.get("a", "key") is None


def test_clearing_forgets_all(file):
    file.put("a", "key", b"x" * 100_000)
    file.count("a", "key", found=True)
    file.clear()
    assert (file.get("a", "key"), file.looks()) == (None, {})
    assert file.path.stat().st_size < 40_000


@pytest.mark.parametrize("content", [b"", b"no database" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_made_anew(file, content):
    file.path.write_bytes(content)
    assert file.get("a", "key") is None
    file.put("a", "key", b"value")
    assert file.get("a", "key") == b"value"


def test_no_flipped_bit_comes_back_as_a_value(tmp_path):
    path, chance = tmp_path / "cache.sqlite", random.Random(7)
    with CacheFile(path) as file:
        for number in range(20):
            file.put("a", str(number), str(number).encode() * 50)
    whole = path.read_bytes()
    for _ in range(60):
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        with CacheFile(path) as file:
            for number in range(20):
                assert file.get("a", str(number)) in (None, str(number).encode() * 50)
            file.put("a", "new", b"value")


def test_a_file_of_another_version_is_made_anew(file):
    file.put("a", "key", b"value")
    file.close()
    other = sqlite3.connect(file.path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    assert file.get("a", "key") is None
    file.put("a", "key", b"new")
    assert file.get("a", "key") == b"new"


def test_a_database_of_another_program_is_left_alone(file):
    other = sqlite3.connect(file.path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = file.path.read_bytes()
    file.put("a", "key", b"value")
    file.clear()
    assert "another program" in file.fault
    assert file.path.read_bytes() == before


def test_a_link_and_a_folder_are_left_alone(tmp_path):
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        with CacheFile(tmp_path / name) as file:
            file.put("a", "key", b"value")
            assert (file.get("a", "key"), "not a file" in file.fault) == (None, True)
    assert (tmp_path / "target").read_bytes() == b"precious"


def test_a_file_in_use_is_passed_over_and_used_again_later(file):
    file.put("a", "key", b"value")
    holder = sqlite3.connect(file.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    file.put("a", "other", b"value")
    assert "locked" in file.fault
    assert file.get("a", "key") == b"value"
    holder.execute("ROLLBACK")
    holder.close()
    file.put("a", "other", b"value")
    assert (file.get("a", "other"), file.fault) == (b"value", "")


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    with CacheFile(tmp_path / "gone" / "cache.sqlite") as file:
        file.put("a", "key", b"value")
        file.count("a", "key", found=False)
        assert (file.get("a", "key"), "unable to open" in file.fault) == (None, True)


def test_threads_share_a_file(file):
    def work(start: int) -> None:
        for number in range(start, start + 50):
            file.put("n", str(number), str(number).encode())
            assert file.get("n", str(number)) == str(number).encode()

    threads = [threading.Thread(target=work, args=(50 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.entries() == {"n": 200}


def test_processes_share_a_file(file):
    children = [writer(file.path, 200) for _ in range(2)]
    assert [child.communicate(timeout=120) and child.returncode for child in children] == [0, 0]
    found = [file.get("n", str(number)) for number in range(200)]
    assert all(value in (None, str(n).encode() * 100) for n, value in enumerate(found))
    assert sum(value is not None for value in found) > 100


def test_a_kill_in_the_middle_of_writing_is_harmless(file):
    for _ in range(3):
        child = writer(file.path, 10**6)
        assert child.stdout is not None
        child.stdout.readline()
        threading.Event().wait(0.1)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=60)
        for number in range(50):
            assert file.get("n", str(number)) in (None, str(number).encode() * 100)
        file.put("a", "key", b"value")
        assert file.get("a", "key") == b"value"
