"""Each failure of the disk has a name in the error tree."""

from __future__ import annotations

import errno

import pytest

from spanwise.errors import IndexNotFound, IndexReadOnly, StorageFull
from spanwise.index.files import named_errors


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_has_a_name(tmp_path, code) -> None:
    with pytest.raises(StorageFull, match="the last commit is intact"), named_errors(tmp_path):
        raise OSError(code, "no room")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_what_may_not_be_written_has_a_name(tmp_path, code) -> None:
    with pytest.raises(IndexReadOnly, match="check its permissions"), named_errors(tmp_path):
        raise OSError(code, "no")


def test_what_is_gone_has_a_name(tmp_path) -> None:
    with pytest.raises(IndexNotFound, match="gone"), named_errors(tmp_path / "gone"):
        raise OSError(errno.ENOENT, "no such file")


def test_other_failures_of_the_system_keep_theirs(tmp_path) -> None:
    with pytest.raises(FileNotFoundError), named_errors(tmp_path):
        raise OSError(errno.ENOENT, "no such file")
