"""Each failure of the disk has a name in the error tree."""

import errno

import pytest

from spanwise.errors import IndexNotFound, IndexReadOnly, StorageFull
from spanwise.index.files import named_errors


@pytest.mark.parametrize(
    ("code", "name", "error"),
    [(code, ".", StorageFull) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)]
    + [(code, ".", IndexReadOnly) for code in (errno.EACCES, errno.EPERM, errno.EROFS)]
    + [(errno.ENOENT, "gone", IndexNotFound), (errno.ENOENT, ".", FileNotFoundError)],
)
def test_a_failure_of_the_disk_has_a_name(tmp_path, code, name, error) -> None:
    with pytest.raises(error), named_errors(tmp_path / name):
        raise OSError(code, "failed")
