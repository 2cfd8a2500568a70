"""A guard in front of parsers of zipped formats: a small file must not inflate into all of memory.

Members are inflated and counted here before any parser sees them; declared sizes are not trusted.
"""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO

from spanwise.errors import DocumentRejected

MAX_MEMBERS = 10_000
MAX_INFLATED = 200_000_000  # bytes, all members together
MAX_RATIO = 100  # inflated to stored bytes; looked at above FREE_INFLATED
FREE_INFLATED = 4_000_000  # bytes
BLOCK = 1 << 16  # bytes
# What zipfile raises on a damaged archive.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError)


def check_zip(data: bytes) -> None:
    """Return when every member inflates within the limits; `DocumentRejected` says what is wrong."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            _inflate_all(archive, len(data))
    except DAMAGE as error:
        raise DocumentRejected(f"damaged zip archive: {error}") from error
    except RuntimeError as error:  # zipfile's word for an encrypted member
        raise DocumentRejected(f"encrypted zip archive: {error}") from error


def _inflate_all(archive: zipfile.ZipFile, stored: int) -> None:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise DocumentRejected(f"zip archive of {len(members):,} members; the limit is {MAX_MEMBERS:,}")
    allowed = min(MAX_INFLATED, max(FREE_INFLATED, MAX_RATIO * stored))
    inflated = 0
    for member in members:
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DocumentRejected("zip archive with another compression than deflate")
        with archive.open(member) as stream:
            while block := stream.read(BLOCK):
                inflated += len(block)
                if inflated > allowed:
                    raise DocumentRejected(
                        f"zip bomb: {stored:,} bytes inflate to more than {allowed:,}, "
                        f"the limit for a file of this size"
                    )
